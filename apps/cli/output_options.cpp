#include "output_options.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "input_options.hpp"
#include "option_help.hpp"

namespace tessera::cli {
namespace {

using raster::SampleType;

constexpr std::array<std::pair<const char*, SampleType>, 11> type_names{{{"Byte", SampleType::uint8},
                                                                         {"UInt8", SampleType::uint8},
                                                                         {"Int8", SampleType::sint8},
                                                                         {"UInt16", SampleType::uint16},
                                                                         {"Int16", SampleType::sint16},
                                                                         {"UInt32", SampleType::uint32},
                                                                         {"Int32", SampleType::sint32},
                                                                         {"UInt64", SampleType::uint64},
                                                                         {"Int64", SampleType::sint64},
                                                                         {"Float32", SampleType::float32},
                                                                         {"Float64", SampleType::float64}}};

SampleType type_of(const std::string& name) {
  const auto found = std::ranges::find_if(type_names, [&](const auto& entry) {
    return std::ranges::equal(std::string_view(entry.first), name, [](char left, char right) {
      return std::tolower(static_cast<unsigned char>(left)) == std::tolower(static_cast<unsigned char>(right));
    });
  });
  return found->second;
}

/// Floats mark missing pixels with NaN, integers with the end of their range that data reach least.
raster::NoData default_no_data(SampleType type) {
  if (raster::is_floating_point(type)) return raster::NoData::of(type, std::numeric_limits<double>::quiet_NaN());
  const unsigned bits = 8 * static_cast<unsigned>(raster::size_of(type));
  if (raster::is_signed(type))
    return raster::NoData::of_signed(type, std::numeric_limits<std::int64_t>::min() >> (64 - bits));
  return raster::NoData::of_unsigned(type, std::numeric_limits<std::uint64_t>::max() >> (64 - bits));
}

/// Does what opens the output. A format or a creation option that GDAL doesn't know is a mistake in the call.
template <class Action>
decltype(auto) with_known_format(const Action& action) {
  try {
    return action();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_option) throw;
    const ErrorDetail& detail = error.detail();
    throw UsageError{
        fmt::format("{}: {}: {}", detail.operand == "driver" ? "--of" : "--co", detail.rule, detail.values),
        error.code()};
  }
}

}  // namespace

void OutputOptions::add_options(CLI::App& command) {
  const std::string group = "Output";
  require_text(command.add_option("-o,--output", path, "Output file")->required()->group(group));
  command.add_flag("--overwrite", overwrite, "Replace the output if it exists")->group(group);
  command.add_option("--of,--output-format", format, "Format of the output: a GDAL driver's short name")
      ->capture_default_str()
      ->group(group);
  require_key_values(command
                         .add_option("--co,--creation-option", creation_options,
                                     "Creation option of the format, KEY=VALUE; repeatable")
                         ->allow_extra_args(false)
                         ->group(group));
  std::vector<std::string> names;
  for (const auto& entry : type_names) names.emplace_back(entry.first);
  command.add_option("--ot,--output-data-type", type, "Sample type of the output, for example Float32 or Int16")
      ->check(CLI::IsMember(names, CLI::ignore_case))
      ->group(group);
  require_text(
      command.add_option("--nodata", no_data, "Value of missing pixels: VALUE, nan, or none (an internal mask)")
          ->group(group));
  command
      .add_flag("--allow-collision", allow_collision, "Let valid results that equal the nodata value become missing")
      ->group(group);
}

raster::BandInfo OutputOptions::band(raster::BandInfo info) const {
  if (!type.empty()) {
    const SampleType chosen = type_of(type);
    if (chosen != info.type) info.no_data = default_no_data(chosen);
    info.type = chosen;
  }
  if (!no_data.empty()) info.no_data = parse_no_data(info.type, no_data, "--nodata");
  if (info.no_data.kind() == raster::NoData::Kind::unmatchable)
    throw UsageError{fmt::format("--nodata: {} does not hold {}", name_of(info.type), no_data)};
  return info;
}

OutputRaster::OutputRaster(const OutputOptions& options, const RunOptions& run, const raster::RasterMetadata& metadata,
                           const raster::BandInfo& band, const std::vector<std::string>& inputs)
    : band_(band), writer_([&] {
        io::RasterWriterOptions writer;
        writer.overwrite = options.overwrite ? io::OverwritePolicy::replace : io::OverwritePolicy::refuse;
        writer.threads = static_cast<int>(run.thread_count());
        writer.inputs = inputs;
        writer.driver = options.format;
        writer.creation_options = options.creation_options;
        writer.stop = Interruption::token();
        return with_known_format([&] {
          return with_advice(ErrorCode::file_exists, overwrite_advice, [&] {
            return io::RasterWriter::create(options.path, metadata, {&band_, 1}, writer);
          });
        });
      }()) {
  encoder_ = std::make_unique<residency::EncodingSink>(
      writer_, residency::EncodingOptions{.collisions = options.allow_collision ? residency::CollisionPolicy::allow
                                                                                : residency::CollisionPolicy::reject});
}

void OutputRaster::finish() {
  with_advice(ErrorCode::file_exists, overwrite_advice, [&] {
    with_advice(ErrorCode::invalid_argument, "--nodata names another, --allow-collision lets them become missing",
                [&] { encoder_->finish(); });
  });
}

}  // namespace tessera::cli
