#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include <tessera/raster/statistics.hpp>
#include <tessera/raster/threshold.hpp>

#include "commands.hpp"
#include "document.hpp"
#include "output_options.hpp"
#include "raster_job.hpp"
#include "run.hpp"
#include "statistics/band_histogram.hpp"
#include "statistics/otsu_cutoff.hpp"
#include "statistics/window_results.hpp"

namespace tessera::cli {
namespace {

struct ThresholdOptions {
  RunOptions run;
  InputOptions input;
  OutputOptions output;
  std::string file;
  BandNumbers band;
  std::optional<double> above;
  std::optional<double> below;
  std::vector<double> between;
  bool otsu = false;
  std::uint32_t bins = 256;
};

raster::BandInfo selection_band() {
  raster::BandInfo info{.type = raster::SampleType::uint8};
  info.no_data = raster::NoData::of_unsigned(info.type, 255);
  info.description = "selection";
  info.color_interpretation = "Gray";
  return info;
}

/// What is selected, as the operation takes it.
struct Selection {
  raster::Threshold::Operation operation = raster::Threshold::Operation::above;
  std::variant<Source, double, std::array<double, 2>> threshold = 0.0;
};

Selection selection_of(const ThresholdOptions& options, const std::optional<double>& cutoff) {
  using Operation = raster::Threshold::Operation;
  if (options.otsu) return {Operation::above, cutoff.value_or(0.0)};
  if (options.above) return {Operation::above, *options.above};
  if (options.below) return {Operation::below, *options.below};
  return {Operation::range, std::array<double, 2>{options.between[0], options.between[1]}};
}

struct SelectionCounts {
  std::uint64_t selected = 0;
  std::uint64_t rejected = 0;
  std::uint64_t missing = 0;
};

SelectionCounts write_selection(const JobContext& context, const ThresholdOptions& options, const BandChoice& band,
                                const Selection& selection, OutputRaster& output) {
  SelectionCounts counts;
  residency::StreamJob job = stream_job(context.inputs, {band});
  job.output_bands = 1;
  job.sink = &output.sink();
  job.result_bytes = 16;
  job.build = [&](Graph& graph, const residency::StreamViews& views) {
    graph.add(raster::Threshold{.operation = selection.operation,
                                .band = views.inputs[0].source(),
                                .output = views.outputs[0],
                                .threshold = selection.threshold});
    // The sum of ones is the number of selected pixels.
    graph.add(raster::Statistics{.input = Source(views.outputs[0]).as_observations(),
                                 .count = views.results.view(Format::uint64, 1),
                                 .sum = views.results.view(Format::float64, 1, {.byte_offset = 8})});
  };
  job.accept = [&](const residency::StreamedWindow& window) {
    const auto valid = read_value<std::uint64_t>(window.results, 0);
    const auto selected = static_cast<std::uint64_t>(read_value<double>(window.results, 8));
    counts.selected += selected;
    counts.rejected += valid - selected;
    counts.missing += window.window.pixel_count() - valid;
  };
  run_stream(context, job, options.otsu ? "threshold, last pass" : "threshold", output.preferred_block());
  return counts;
}

void validate(const ThresholdOptions& options) {
  const int ways =
      (options.above ? 1 : 0) + (options.below ? 1 : 0) + (options.between.empty() ? 0 : 1) + (options.otsu ? 1 : 0);
  if (ways != 1) throw UsageError{"name one of --above, --below, --between and --otsu"};
  std::vector<double> ends = options.between;
  for (const auto& end : {options.above, options.below})
    if (end) ends.push_back(*end);
  for (const double end : ends)
    if (!std::isfinite(static_cast<float>(end))) throw UsageError{"thresholds are numbers that float32 holds"};
  if (!options.between.empty() && !(options.between[0] <= options.between[1]))
    throw UsageError{fmt::format("--between: {} is above {}", options.between[0], options.between[1])};
}

ExitCode run_threshold(const ThresholdOptions& options) {
  validate(options);
  const raster::BandInfo selection_info = options.output.band(selection_band());
  InputRasters inputs(options.input);
  const BandChoice band = options.band.choose_one(inputs, inputs.open(options.file));
  inputs.prepare();
  OutputRaster output(options.output, options.run, inputs.source(band.input).metadata(), selection_info,
                      inputs.files());
  note_rounding(options.run, inputs.info(band));
  CommandDevice device(options.run);
  const JobContext context{device.device(), options.run, inputs};
  std::optional<double> cutoff;
  if (options.otsu)
    cutoff = otsu_cutoff(context.device, gather_histogram(context, band, {.bins = options.bins}, "threshold"));
  const SelectionCounts counts = write_selection(context, options, band, selection_of(options, cutoff), output);
  output.finish();

  nlohmann::ordered_json document = job_document(options.input);
  document["output"] = options.output.path;
  if (options.otsu) document["threshold"] = cutoff ? json_number(*cutoff) : nlohmann::ordered_json(nullptr);
  document["selected"] = counts.selected;
  document["rejected"] = counts.rejected;
  document["invalid"] = counts.missing;
  if (!options.run.json) {
    fmt::print("{}\n", options.output.path);
    if (cutoff) fmt::print("  threshold {}\n", *cutoff);
    fmt::print("  selected {}, rejected {}, invalid {}\n", counts.selected, counts.rejected, counts.missing);
  }
  return finish_job(options.run, inputs, document);
}

}  // namespace

void add_threshold(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("threshold", "Select the pixels of a band by their value");
  command->footer(
      "The output is 1 where a pixel is selected, 0 where it is not, and nodata (255) where the input is missing. Ends "
      "are selected too.\n"
      "Example: tessera threshold ndvi.tif --above 0.3 -o vegetation.tif");
  const auto options = std::make_shared<ThresholdOptions>();
  command->add_option("FILE", options->file, "Raster file")->required();
  options->band.add_option(*command, "[required where the file has several]");
  const std::string group = "Selection";
  command->add_option("--above", options->above, "Values of at least this")->group(group);
  command->add_option("--below", options->below, "Values of at most this")->group(group);
  command->add_option("--between", options->between, "Values from A to B: A,B")
      ->delimiter(',')
      ->expected(2)
      ->group(group);
  command->add_flag("--otsu", options->otsu, "Values above the cutoff that separates them best (Otsu's method)")
      ->group(group);
  command->add_option("--bins", options->bins, "Bins of the histogram that --otsu looks at")
      ->needs("--otsu")
      ->capture_default_str()
      ->check(CLI::Range(1U, 65536U))
      ->group(group);
  options->output.add_options(*command);
  options->input.add_options(*command);
  options->run.add_job_options(*command);
  command->callback([options, &exit_code] {
    exit_code = run_reported("threshold", options->run.json, [&] { return run_threshold(*options); });
  });
}

}  // namespace tessera::cli
