#include <fmt/format.h>

#include <tessera/io/raster_file.hpp>

#include "commands.hpp"
#include "option_help.hpp"
#include "run.hpp"

namespace tessera::cli {
namespace {

nlohmann::ordered_json no_data_json(const raster::NoData& no_data) {
  using Kind = raster::NoData::Kind;
  if (no_data.kind() == Kind::none) return nullptr;
  if (no_data.kind() == Kind::integer || no_data.kind() == Kind::floating) return json_number(no_data.declared());
  return no_data.text();
}

std::string_view validity_name(raster::ValiditySource source) {
  switch (source) {
    case raster::ValiditySource::none:
      return "none";
    case raster::ValiditySource::mask:
      return "mask";
    case raster::ValiditySource::alpha:
      return "alpha";
    case raster::ValiditySource::mask_and_alpha:
      return "mask and alpha";
    case raster::ValiditySource::quality:
      return "quality";
    case raster::ValiditySource::unreadable:
      return "unreadable";
  }
  return "none";
}

nlohmann::ordered_json band_json(std::uint32_t number, const raster::BandInfo& band) {
  nlohmann::ordered_json json{{"band", number},
                              {"type", name_of(band.type)},
                              {"description", band.description},
                              {"nodata", no_data_json(band.no_data)},
                              {"validity", validity_name(band.validity)},
                              {"scale", json_number(band.scale_or_default())},
                              {"offset", json_number(band.offset_or_default())},
                              {"unit", band.unit},
                              {"color_interpretation", band.color_interpretation}};
  return json;
}

nlohmann::ordered_json info_json(const io::RasterFile& file) {
  const raster::RasterMetadata& metadata = file.metadata();
  nlohmann::ordered_json document{{"schema", 1},
                                  {"file", file.name()},
                                  {"driver", file.info().driver},
                                  {"width", metadata.width},
                                  {"height", metadata.height},
                                  {"block", {file.info().block.width, file.info().block.height}},
                                  {"compression", file.info().compression},
                                  {"interleave", file.info().interleave}};
  document["georeferenced"] = metadata.georeferencing == raster::Georeferencing::present;
  document["affine"] = metadata.affine;
  document["crs"] = file.info().coordinate_reference_system_name;
  document["pixel_interpretation"] =
      metadata.pixel_interpretation == raster::PixelInterpretation::point ? "point" : "area";
  document["overviews"] = nlohmann::ordered_json::array();
  for (const residency::Extent& overview : file.info().overviews)
    document["overviews"].push_back({overview.width, overview.height});
  document["bands"] = nlohmann::ordered_json::array();
  for (std::uint32_t i = 0; i < file.bands().size(); ++i)
    document["bands"].push_back(band_json(i + 1, file.bands()[i]));
  return document;
}

void print_info(const io::RasterFile& file) {
  const raster::RasterMetadata& metadata = file.metadata();
  const io::RasterFileInfo& info = file.info();
  fmt::print("{}: {}\n", file.name(), info.driver_description);
  fmt::print("size {} x {}, blocks of {} x {}", metadata.width, metadata.height, info.block.width, info.block.height);
  fmt::print("{}\n", info.compression.empty() ? std::string() : ", " + info.compression);
  if (metadata.georeferencing == raster::Georeferencing::present) {
    const auto& a = metadata.affine;
    fmt::print("affine {} {} {} / {} {} {}\n", a[0], a[1], a[2], a[3], a[4], a[5]);
  } else {
    fmt::print("not georeferenced\n");
  }
  if (!info.coordinate_reference_system_name.empty()) fmt::print("CRS {}\n", info.coordinate_reference_system_name);
  for (const residency::Extent& overview : info.overviews)
    fmt::print("overview {} x {}\n", overview.width, overview.height);
  for (std::uint32_t i = 0; i < file.bands().size(); ++i) {
    const raster::BandInfo& band = file.bands()[i];
    fmt::print("band {}: {}", i + 1, name_of(band.type));
    if (!band.description.empty()) fmt::print(" \"{}\"", band.description);
    if (band.no_data.kind() != raster::NoData::Kind::none) fmt::print(", nodata {}", band.no_data.text());
    if (band.validity != raster::ValiditySource::none) fmt::print(", validity by {}", validity_name(band.validity));
    if (band.scale || band.offset)
      fmt::print(", scale {} offset {}", band.scale_or_default(), band.offset_or_default());
    if (!band.unit.empty()) fmt::print(", unit {}", band.unit);
    fmt::print("\n");
  }
}

}  // namespace

void add_info(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("info", "Describe a raster file");
  command->footer("Example: tessera info scene.tif");
  const auto options = std::make_shared<RunOptions>();
  const auto file = std::make_shared<std::string>();
  const auto open_options = std::make_shared<io::RasterOpenOptions>();
  command->add_option("FILE", *file, "Raster file")->required();
  require_key_values(
      command
          ->add_option("--oo", open_options->open_options, "Open option of the format's driver, KEY=VALUE; repeatable")
          ->allow_extra_args(false));
  RunOptions::add_configuration_option(*command);
  options->add_json_option(*command);
  command->callback([options, file, open_options, &exit_code] {
    exit_code = run_reported("info", options->json, [&] {
      const io::RasterFile raster = io::RasterFile::open(*file, *open_options);
      if (options->json)
        print_json(info_json(raster));
      else
        print_info(raster);
      return ExitCode::done;
    });
  });
}

}  // namespace tessera::cli
