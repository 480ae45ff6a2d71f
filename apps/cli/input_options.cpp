#include "input_options.hpp"

#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "option_help.hpp"
#include "quality_mask.hpp"
#include "run.hpp"

namespace tessera::cli {
namespace {

template <class Number>
bool parse_whole(const std::string& text, Number& number) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc() && end == text.data() + text.size();
}

}  // namespace

raster::NoData parse_no_data(raster::SampleType type, const std::string& text, const std::string& option) {
  if (text == "none") return {};
  if (text == "nan" || text == "NaN") return raster::NoData::of(type, std::numeric_limits<double>::quiet_NaN());
  // Integers are read as such: a double does not hold all of 64 bits.
  std::int64_t integer = 0;
  if (parse_whole(text, integer)) return raster::NoData::of_signed(type, integer);
  std::uint64_t natural = 0;
  if (parse_whole(text, natural)) return raster::NoData::of_unsigned(type, natural);
  double number = 0;
  if (parse_whole(text, number) && std::isfinite(number)) return raster::NoData::of(type, number);
  throw UsageError{fmt::format("{}: a number, nan or none: '{}'", option, text)};
}

void InputOptions::add_options(CLI::App& command) {
  const std::string calibration = "Values";
  command.add_flag("--raw", raw, "Stored values, without scale and offset")->group(calibration);
  command.add_option("--scale", scale, "Scale instead of the file's; 0 means none")
      ->group(calibration)
      ->excludes("--raw");
  command.add_option("--offset", offset, "Offset instead of the file's")->group(calibration)->excludes("--raw");
  require_text(command.add_option("--src-nodata", no_data, "Nodata value instead of the file's: VALUE, nan or none")
                   ->group(calibration));

  const std::string quality = "Quality mask";
  require_text(command.add_option("--mask", mask, "Raster whose pixels say which pixels are bad: FILE or FILE,BAND")
                   ->group(quality));
  command.add_option("--mask-bits", mask_bits, "Bad where one of these bits is set, for example 1,3,4")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(0U, 63U))
      ->group(quality);
  command.add_option("--mask-values", mask_values, "Bad where the mask has one of these values, for example 3,8,9,10")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(quality);
  command.add_option("--mask-preset", mask_preset, "Bits or values by product: " + quality_presets_text())
      ->check(CLI::IsMember(quality_preset_names()))
      ->group(quality);

  const std::string area = "Area";
  command.add_option("--window", window, "Only these pixels: COLUMN,ROW,WIDTH,HEIGHT")
      ->delimiter(',')
      ->expected(4)
      ->group(area);
  command.add_option("--bbox", box, "Only the pixels that touch this box: XMIN,YMIN,XMAX,YMAX")
      ->delimiter(',')
      ->expected(4)
      ->excludes("--window")
      ->group(area);
  command
      .add_option("--bbox-crs", box_reference_system, "CRS of --bbox, for example EPSG:4326 [default: the raster's]")
      ->needs("--bbox")
      ->group(area);

  const std::string reading = "Reading";
  command.add_option("--align", align, "Put inputs of different grids on the grid of one of them")
      ->check(CLI::IsMember({"first", "finest", "coarsest"}))
      ->group(reading);
  command.add_option("--resampling", resampling, "How --align finds values: nearest, bilinear or average")
      ->check(CLI::IsMember({"nearest", "bilinear", "average"}))
      ->needs("--align")
      ->capture_default_str()
      ->group(reading);
  command.add_option("--on-error", on_error, "Blocks that can't be read: fail, or skip them as missing (exit code 3)")
      ->check(CLI::IsMember({"fail", "skip"}))
      ->capture_default_str()
      ->group(reading);
  require_key_values(
      command.add_option("--oo", open_options, "Open option of the format's driver, KEY=VALUE; repeatable")
          ->allow_extra_args(false)
          ->group(reading));
}

void InputOptions::validate() const {
  const bool has_rule = !mask_bits.empty() || !mask_values.empty() || !mask_preset.empty();
  if (mask.empty() && has_rule) throw UsageError{"--mask-bits, --mask-values and --mask-preset need --mask"};
  if (!mask.empty() && !has_rule)
    throw UsageError{"--mask: say what is bad with --mask-bits, --mask-values or --mask-preset"};
  if (!mask_preset.empty() && (!mask_bits.empty() || !mask_values.empty()))
    throw UsageError{"--mask-preset names bits or values itself; leave --mask-bits and --mask-values out"};
  for (const auto& number : {scale, offset})
    if (number && !std::isfinite(*number)) throw UsageError{"--scale and --offset are finite numbers"};
  for (const double edge : box)
    if (!std::isfinite(edge)) throw UsageError{"--bbox: four finite numbers"};
  if (!box.empty() && !(box[0] < box[2] && box[1] < box[3]))
    throw UsageError{"--bbox: XMIN below XMAX and YMIN below YMAX"};
}

raster::BandInfo InputOptions::overridden(raster::BandInfo info) const {
  if (raw) {
    info.scale.reset();
    info.offset.reset();
  }
  if (scale) info.scale = *scale == 0.0 ? std::nullopt : scale;
  if (offset) info.offset = offset;
  if (!no_data.empty()) info.no_data = parse_no_data(info.type, no_data, "--src-nodata");
  return info;
}

}  // namespace tessera::cli
