#include <fmt/format.h>

#include <tessera/io/raster_file.hpp>

#include "band_summary.hpp"
#include "commands.hpp"
#include "raster_reference.hpp"
#include "run.hpp"

namespace tessera::cli {
namespace {

struct StatsOptions {
  RunOptions run;
  std::string file;
  std::vector<std::uint32_t> bands;
};

Format value_format(raster::SampleType type) {
  if (raster::is_floating_point(type)) return Format::float32;
  return raster::is_signed(type) ? Format::sint32 : Format::uint32;
}

std::vector<BandSummary> summarise(const StatsOptions& options, const io::RasterFile& file,
                                   const std::vector<std::uint32_t>& bands) {
  CommandDevice device(options.run);
  const residency::StreamOptions stream_settings = stream_options(options.run, "stats");
  std::vector<residency::StreamInput> inputs;
  std::vector<BandSummary> summaries;
  std::vector<std::size_t> on_device;
  for (const std::uint32_t band : bands) {
    const raster::BandInfo& info = file.band(band);
    const bool device_band = BandSummary::on_device(info.type);
    if (device_band) on_device.push_back(inputs.size());
    inputs.push_back({&file, band, device_band ? residency::StreamPlace::device : residency::StreamPlace::host});
    summaries.emplace_back(info);
  }
  residency::StreamJob job{.inputs = inputs,
                           .grid = plan_job(device.device(), file, inputs, 0, {}, options.run, stream_settings)};
  job.result_bytes = on_device.size() * BandResultLayout::bytes;
  if (!on_device.empty()) {
    job.build = [&](Graph& graph, const residency::StreamViews& views) {
      for (std::size_t i = 0; i < on_device.size(); ++i) {
        const Format values = value_format(file.band(bands[on_device[i]]).type);
        raster::Statistics statistics =
            window_statistics(views.inputs[i], views.results, i * BandResultLayout::bytes, values);
        statistics.id = fmt::format("band {}", bands[on_device[i]]);
        graph.add(statistics);
      }
    };
  }
  job.accept = [&](const residency::StreamedWindow& window) {
    std::size_t next = 0;
    for (std::size_t i = 0; i < summaries.size(); ++i) {
      if (inputs[i].place == residency::StreamPlace::host)
        summaries[i].merge_host(window.samples[i], window.validity[i]);
      else
        summaries[i].merge_device(window.results.subspan(next++ * BandResultLayout::bytes, BandResultLayout::bytes),
                                  window.window.pixel_count());
    }
  };
  residency::stream(device.device(), job, stream_settings);
  return summaries;
}

void run_stats(const StatsOptions& options) {
  const io::RasterFile file = io::RasterFile::open(options.file);
  std::vector<std::uint32_t> bands = options.bands;
  if (bands.empty())
    for (std::uint32_t band = 1; band <= file.bands().size(); ++band) bands.push_back(band);
  for (const std::uint32_t band : bands) static_cast<void>(file.band(band));

  const std::vector<BandSummary> summaries = summarise(options, file, bands);
  nlohmann::ordered_json document{{"schema", 1},
                                  {"file", file.name()},
                                  {"domain", options.run.raw ? "raw" : "calibrated"},
                                  {"bands", nlohmann::ordered_json::array()}};
  for (std::size_t i = 0; i < bands.size(); ++i) {
    const raster::BandInfo& info = file.band(bands[i]);
    BandFigures figures = summaries[i].figures();
    if (!options.run.raw && (info.scale || info.offset))
      figures = figures.calibrated(info.scale_or_default(), info.offset_or_default());
    if (!options.run.json) {
      fmt::print("band {}{}\n", bands[i], info.description.empty() ? "" : " (" + info.description + ")");
      figures.print();
    }
    nlohmann::ordered_json band{{"band", bands[i]}, {"description", info.description}};
    band.update(figures.json());
    document["bands"].push_back(band);
  }
  if (options.run.json) print_json(document);
}

}  // namespace

void add_stats(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("stats", "Exact statistics of the valid pixels of each band");
  command->footer(
      "Values are calibrated (scale and offset applied) unless --raw is given. The deviation is the population's.\n"
      "Example: tessera stats scene.tif -b 3,4 --json");
  const auto options = std::make_shared<StatsOptions>();
  command->add_option("FILE", options->file, "Raster file")->required();
  command->add_option("-b,--band", options->bands, "Band number, from 1; repeatable or 1,2,3 [default: all]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1U, 65535U));
  command->add_flag("--raw", options->run.raw, "Stored values, without scale and offset");
  options->run.add_job_options(*command);
  options->run.add_json_option(*command);
  command->callback(
      [options, &exit_code] { exit_code = run_reported("stats", options->run.json, [&] { run_stats(*options); }); });
}

}  // namespace tessera::cli
