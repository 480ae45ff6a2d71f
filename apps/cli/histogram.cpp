#include <fmt/format.h>

#include "commands.hpp"
#include "document.hpp"
#include "histogram_chart.hpp"
#include "option_help.hpp"
#include "run.hpp"
#include "statistics/band_histogram.hpp"

namespace tessera::cli {
namespace {

struct HistogramOptions {
  RunOptions run;
  InputOptions input;
  std::string file;
  BandNumbers bands;
  HistogramRequest request;
  std::string chart;
  bool overwrite = false;
};

void print_histogram(std::uint32_t band, const BandHistogram& histogram) {
  fmt::print("band {}: {} valid, {} outside of {} to {}\n", band, histogram.valid, histogram.outside(), histogram.low,
             histogram.high);
  const double width = (histogram.high - histogram.low) / static_cast<double>(histogram.counts.size());
  for (std::size_t bin = 0; bin < histogram.counts.size(); ++bin)
    fmt::print("  {} {}\n", histogram.low + width * static_cast<double>(bin), histogram.counts[bin]);
}

nlohmann::ordered_json histogram_json(std::uint32_t band, const BandHistogram& histogram) {
  return {{"band", band},
          {"min", json_number(histogram.low)},
          {"max", json_number(histogram.high)},
          {"bins", histogram.counts.size()},
          {"valid", histogram.valid},
          {"outside", histogram.outside()},
          {"counts", histogram.counts}};
}

ExitCode run_histogram(const HistogramOptions& options) {
  InputRasters inputs(options.input);
  const std::size_t input = inputs.open(options.file);
  const std::vector<BandChoice> bands = options.chart.empty()
                                            ? options.bands.choose(inputs, input)
                                            : std::vector<BandChoice>{options.bands.choose_one(inputs, input)};
  inputs.prepare();
  std::optional<HistogramChart> chart;
  if (!options.chart.empty()) chart.emplace(options.chart, options.overwrite, inputs.files());
  CommandDevice device(options.run);
  const JobContext context{device.device(), options.run, inputs};
  nlohmann::ordered_json document = job_document(options.input);
  document["file"] = options.file;
  document["bands"] = nlohmann::ordered_json::array();
  for (const BandChoice& band : bands) {
    const BandHistogram histogram = gather_histogram(context, band, options.request, "histogram");
    if (chart) chart->write(histogram);
    if (!options.run.json) print_histogram(band.band, histogram);
    document["bands"].push_back(histogram_json(band.band, histogram));
  }
  if (chart) document["png"] = options.chart;
  return finish_job(options.run, inputs, document);
}

}  // namespace

void add_histogram(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("histogram", "Counts of the valid values of a band in bins of equal width");
  command->footer(
      "Bins reach from the smallest to the largest valid value unless --min and --max say otherwise; the last bin "
      "holds "
      "its upper end too. Values are calibrated in float32 unless --raw.\n"
      "Example: tessera histogram scene.tif -b 1 --bins 100 --png histogram.png");
  const auto options = std::make_shared<HistogramOptions>();
  command->add_option("FILE", options->file, "Raster file")->required();
  options->bands.add_option(*command, "[default: all]");
  command->add_option("--bins", options->request.bins, "Number of bins")
      ->capture_default_str()
      ->check(CLI::Range(1U, 65536U));
  command->add_option("--min", options->request.low, "Lower end of the first bin [default: the smallest value]");
  command->add_option("--max", options->request.high, "Upper end of the last bin [default: the largest value]");
  require_text(command->add_option("--png", options->chart, "Draw the histogram of the one band into a PNG file"));
  command->add_flag("--overwrite", options->overwrite, "Replace the PNG file if it exists")->needs("--png");
  options->input.add_options(*command);
  options->run.add_job_options(*command);
  command->callback([options, &exit_code] {
    exit_code = run_reported("histogram", options->run.json, [&] { return run_histogram(*options); });
  });
}

}  // namespace tessera::cli
