#include "document.hpp"

#include <fmt/format.h>

namespace tessera::cli {

void BandNumbers::add_option(CLI::App& command, const std::string& default_text) {
  command.add_option("-b,--band", numbers, "Band number, from 1; repeatable or 1,2,3 " + default_text)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1U, 65535U));
}

std::vector<BandChoice> BandNumbers::choose(const InputRasters& inputs, std::size_t input) const {
  std::vector<BandChoice> bands;
  for (const std::uint32_t number : numbers) bands.push_back(inputs.band(input, number));
  if (!bands.empty()) return bands;
  const auto count = static_cast<std::uint32_t>(inputs.file(input).bands().size());
  for (std::uint32_t number = 1; number <= count; ++number) bands.push_back({input, number});
  return bands;
}

BandChoice BandNumbers::choose_one(const InputRasters& inputs, std::size_t input) const {
  const std::vector<BandChoice> bands = choose(inputs, input);
  if (bands.size() > 1)
    throw UsageError{fmt::format("-b: {} has {} bands; name one", inputs.file(input).name(), bands.size())};
  return bands.front();
}

nlohmann::ordered_json job_document(const InputOptions& options) {
  return {{"schema", 1}, {"domain", options.raw ? "raw" : "calibrated"}};
}

void note_rounding(const RunOptions& run, const raster::BandInfo& info) {
  if (run.quiet || info.type != raster::SampleType::float64) return;
  fmt::print(stderr, "tessera: float64 samples are rounded to float32\n");
}

ExitCode finish_job(const RunOptions& run, const InputRasters& inputs, nlohmann::ordered_json& document) {
  const std::uint64_t count = inputs.skipped_count();
  if (count > 0) {
    auto& skipped = document["skipped"] = {{"count", count}, {"blocks", nlohmann::ordered_json::array()}};
    for (const residency::SkippedBlock& block : inputs.skipped()) {
      skipped["blocks"].push_back({{"band", block.band}, {"window", block.window.text()}, {"cause", block.cause}});
      if (!run.json)
        fmt::print(stderr, "skipped: band {}, window {}: {}\n", block.band, block.window.text(), block.cause);
    }
    if (!run.json) fmt::print(stderr, "{} blocks could not be read and were skipped\n", count);
  }
  if (run.json) print_json(document);
  return count > 0 ? ExitCode::skipped : ExitCode::done;
}

}  // namespace tessera::cli
