#include <limits>

#include <fmt/format.h>

#include <tessera/io/raster_file.hpp>
#include <tessera/io/raster_writer.hpp>
#include <tessera/raster/pixel.hpp>

#include "band_summary.hpp"
#include "commands.hpp"
#include "raster_reference.hpp"
#include "run.hpp"

namespace tessera::cli {
namespace {

struct NdviOptions {
  RunOptions run;
  std::string scene;
  std::string red;
  std::string near_infrared;
};

raster::BandInfo index_band() {
  raster::BandInfo info{.type = raster::SampleType::float32};
  info.no_data = raster::NoData::of(raster::SampleType::float32, std::numeric_limits<double>::quiet_NaN());
  info.description = "NDVI";
  info.color_interpretation = "Gray";
  return info;
}

io::RasterWriterOptions writer_options(const NdviOptions& options, const RasterFiles& files) {
  io::RasterWriterOptions writer;
  writer.overwrite = options.run.overwrite ? io::OverwritePolicy::replace : io::OverwritePolicy::refuse;
  writer.threads = static_cast<int>(options.run.thread_count());
  writer.inputs = files.names();
  return writer;
}

BandFigures write_index(const NdviOptions& options, const BandReference& red, const BandReference& near_infrared,
                        const RasterFiles& files) {
  const raster::BandInfo output = index_band();
  io::RasterWriter writer =
      io::RasterWriter::create(options.run.output, red.file->metadata(), {&output, 1}, writer_options(options, files));
  CommandDevice device(options.run);
  const residency::StreamOptions stream_settings = stream_options(options.run, "ndvi");
  const std::vector<residency::StreamInput> inputs{{near_infrared.file, near_infrared.band}, {red.file, red.band}};
  BandSummary summary(output);
  residency::StreamJob job{
      .inputs = inputs,
      .grid = plan_job(device.device(), *red.file, inputs, 1, writer.preferred_block(), options.run, stream_settings)};
  job.output_bands = 1;
  job.sink = &writer;
  job.result_bytes = BandResultLayout::bytes;
  job.build = [&](Graph& graph, const residency::StreamViews& views) {
    raster::Band first = views.inputs[0];
    raster::Band second = views.inputs[1];
    if (options.run.raw) first.scale = second.scale = 1.0, first.offset = second.offset = 0.0;
    graph.add(raster::Ndvi{.near_infrared = first, .red = second, .output = views.outputs[0]});
    graph.add(window_statistics(Source(views.outputs[0]).as_observations(), views.results, 0, Format::float32));
  };
  job.accept = [&](const residency::StreamedWindow& window) {
    summary.merge_device(window.results, window.window.pixel_count());
  };
  residency::stream(device.device(), job, stream_settings);
  writer.finish();
  return summary.figures();
}

void run_ndvi(const NdviOptions& options) {
  RasterFiles files;
  const BandReference red = files.resolve(options.scene, options.red, "--red");
  const BandReference near_infrared = files.resolve(options.scene, options.near_infrared, "--nir");
  if (red.file != near_infrared.file) io::assert_same_grid(*red.file, *near_infrared.file);
  const BandFigures figures = write_index(options, red, near_infrared, files);
  if (options.run.json) {
    nlohmann::ordered_json document{
        {"schema", 1}, {"output", options.run.output}, {"domain", options.run.raw ? "raw" : "calibrated"}};
    document.update(figures.json());
    print_json(document);
    return;
  }
  fmt::print("{}\n", options.run.output);
  figures.print();
}

}  // namespace

void add_ndvi(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("ndvi", "Normalized difference vegetation index of two bands");
  command->footer(
      "REF is a band number or a band's name in SCENE, or FILE, or FILE,BAND. The output is float32 with NaN as "
      "nodata.\n"
      "Examples: tessera ndvi scene.tif --red 3 --nir 4 -o ndvi.tif\n"
      "          tessera ndvi --red LC08_B4.TIF --nir LC08_B5.TIF -o ndvi.tif");
  const auto options = std::make_shared<NdviOptions>();
  command->add_option("SCENE", options->scene, "Raster file that holds the bands");
  command->add_option("--red", options->red, "Red band (REF)")->required();
  command->add_option("--nir", options->near_infrared, "Near-infrared band (REF)")->required();
  command->add_flag("--raw", options->run.raw, "Stored values, without scale and offset");
  options->run.add_output_options(*command);
  options->run.add_job_options(*command);
  options->run.add_json_option(*command);
  command->callback(
      [options, &exit_code] { exit_code = run_reported("ndvi", options->run.json, [&] { run_ndvi(*options); }); });
}

}  // namespace tessera::cli
