#include <fmt/format.h>

#include "commands.hpp"
#include "document.hpp"
#include "input_rasters.hpp"
#include "raster_job.hpp"
#include "run.hpp"

namespace tessera::cli {
namespace {

struct StatsOptions {
  RunOptions run;
  InputOptions input;
  std::string file;
  BandNumbers bands;
  std::string percentiles;
};

ExitCode run_stats(const StatsOptions& options) {
  const std::vector<Percentile> percentiles =
      options.percentiles.empty() ? std::vector<Percentile>() : parse_percentiles(options.percentiles);
  InputRasters inputs(options.input);
  const std::vector<BandChoice> bands = options.bands.choose(inputs, inputs.open(options.file));
  inputs.prepare();

  CommandDevice device(options.run);
  std::vector<std::unique_ptr<BandStatistics>> statistics;
  std::vector<BandStatistics*> list;
  for (const BandChoice& band : bands) {
    const raster::BandInfo& info = inputs.info(band);
    statistics.push_back(BandStatistics::create(info, {.percentiles = percentiles,
                                                       .descending = info.scale_or_default() < 0,
                                                       .has_quality_mask = inputs.has_quality_mask(),
                                                       .place = gathering_place(device.device())}));
    list.push_back(statistics.back().get());
  }
  gather({device.device(), options.run, inputs}, bands, list, "stats");

  nlohmann::ordered_json document = job_document(options.input);
  document["file"] = options.file;
  document["bands"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < bands.size(); ++i) {
    const raster::BandInfo& info = inputs.info(bands[i]);
    BandFigures figures = statistics[i]->figures();
    if (info.scale || info.offset) figures = figures.calibrated(info.scale_or_default(), info.offset_or_default());
    if (!options.run.json) {
      fmt::print("band {}{}\n", bands[i].band, info.description.empty() ? "" : " (" + info.description + ")");
      figures.print();
    }
    nlohmann::ordered_json band{{"band", bands[i].band}, {"description", info.description}};
    band.update(figures.json());
    document["bands"].push_back(band);
  }
  return finish_job(options.run, inputs, document);
}

}  // namespace

void add_stats(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("stats", "Exact statistics of the valid pixels of each band");
  command->footer(
      "Statistics are taken on stored values, exactly, and calibrated once (unless --raw). The deviation is the "
      "population's.\n"
      "Example: tessera stats scene.tif -b 3,4 --percentiles 2,50,98 --json");
  const auto options = std::make_shared<StatsOptions>();
  command->add_option("FILE", options->file, "Raster file")->required();
  options->bands.add_option(*command, "[default: all]");
  command->add_option("--percentiles", options->percentiles,
                      "Exact percentiles, linear between neighbours, for example 2,50,98");
  options->input.add_options(*command);
  options->run.add_job_options(*command);
  command->callback([options, &exit_code] {
    exit_code = run_reported("stats", options->run.json, [&] { return run_stats(*options); });
  });
}

}  // namespace tessera::cli
