#include <limits>

#include <fmt/format.h>

#include <tessera/raster/pixel.hpp>

#include "commands.hpp"
#include "document.hpp"
#include "output_options.hpp"
#include "raster_job.hpp"
#include "run.hpp"

namespace tessera::cli {
namespace {

struct NdviOptions {
  RunOptions run;
  InputOptions input;
  OutputOptions output;
  std::string scene;
  std::string red;
  std::string near_infrared;
};

raster::BandInfo index_band() {
  raster::BandInfo info{.type = raster::SampleType::float32};
  info.no_data = raster::NoData::of(info.type, std::numeric_limits<double>::quiet_NaN());
  info.description = "NDVI";
  info.color_interpretation = "Gray";
  return info;
}

BandFigures write_index(const JobContext& context, const std::vector<BandChoice>& bands, OutputRaster& output) {
  const raster::BandInfo index{.type = raster::SampleType::float32};
  const auto statistics = BandStatistics::create(index, {.place = gathering_place(context.device)});
  residency::StreamJob job = stream_job(context.inputs, bands);
  job.output_bands = 1;
  job.sink = &output.sink();
  job.result_bytes = statistics->result_bytes();
  job.build = [&](Graph& graph, const residency::StreamViews& views) {
    graph.add(raster::Ndvi{.near_infrared = views.inputs[0], .red = views.inputs[1], .output = views.outputs[0]});
    if (!statistics->on_host())
      statistics->add_operations(graph, {.band = {.values = views.outputs[0]}, .results = views.results});
  };
  job.accept = [&](const residency::StreamedWindow& window) {
    statistics->accept(
        {.pixels = window.window.pixel_count(), .results = window.results, .samples = window.outputs[0]});
  };
  run_stream(context, job, "ndvi", output.preferred_block());
  statistics->end_pass();
  return statistics->figures();
}

ExitCode run_ndvi(const NdviOptions& options) {
  const raster::BandInfo output_band = options.output.band(index_band());
  InputRasters inputs(options.input);
  const BandChoice red = inputs.choose(options.scene, options.red, "--red");
  const BandChoice near_infrared = inputs.choose(options.scene, options.near_infrared, "--nir");
  inputs.prepare();
  OutputRaster output(options.output, options.run, inputs.source(red.input).metadata(), output_band, inputs.files());
  for (const BandChoice& band : {red, near_infrared}) note_rounding(options.run, inputs.info(band));
  CommandDevice device(options.run);
  const BandFigures figures = write_index({device.device(), options.run, inputs}, {near_infrared, red}, output);
  output.finish();

  nlohmann::ordered_json document = job_document(options.input);
  document["output"] = options.output.path;
  nlohmann::ordered_json values = figures.json();
  values.erase("invalid_by");  // the index is missing for the inputs' reasons
  document.update(values);
  if (!options.run.json) {
    fmt::print("{}\n", options.output.path);
    figures.print();
  }
  return finish_job(options.run, inputs, document);
}

}  // namespace

void add_ndvi(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("ndvi", "Normalized difference vegetation index of two bands");
  command->footer(
      "REF is a band number or a band's name in SCENE, or FILE, or FILE,BAND. The output is float32 with NaN as "
      "nodata.\n"
      "Examples: tessera ndvi scene.tif --red 3 --nir 4 -o ndvi.tif\n"
      "          tessera ndvi --red LC08_B4.TIF --nir LC08_B5.TIF --mask LC08_QA_PIXEL.TIF --mask-preset landsat-c2 "
      "-o ndvi.tif");
  const auto options = std::make_shared<NdviOptions>();
  command->add_option("SCENE", options->scene, "Raster file that holds the bands");
  command->add_option("--red", options->red, "Red band (REF)")->required();
  command->add_option("--nir", options->near_infrared, "Near-infrared band (REF)")->required();
  options->output.add_options(*command);
  options->input.add_options(*command);
  options->run.add_job_options(*command);
  command->callback([options, &exit_code] {
    exit_code = run_reported("ndvi", options->run.json, [&] { return run_ndvi(*options); });
  });
}

}  // namespace tessera::cli
