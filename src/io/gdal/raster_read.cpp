#include <algorithm>
#include <cstring>

#include <tessera/error.hpp>

#include "raster_file_state.hpp"

namespace tessera::io::detail {

namespace {

using residency::Extent;
using residency::ReadRequest;
using residency::Window;

/// What all parts of one read share.
struct Reading {
  const std::string& path;
  const RasterDescription& description;
  GDALDatasetH dataset;
  const Window& window;             ///< the whole request
  std::vector<std::byte>& scratch;  ///< one block
};

/// Working set of one step. Small enough that the blocks of all bands of a pixel-interleaved file stay in GDAL's cache
/// between the bands; large enough that calls cost nothing.
constexpr std::uint64_t step_bytes = std::uint64_t{8} << 20;

/// The longest run from `begin` that ends on a block edge (or at `end`) and has at most `most` pixels, but never less
/// than the rest of one block.
std::int64_t step_end(std::int64_t begin, std::int64_t end, std::int64_t block, std::int64_t most) {
  const std::int64_t first_edge = (begin / block + 1) * block;
  const std::int64_t last_edge = (begin + most) / block * block;
  return std::min(end, std::max(first_edge, last_edge));
}

[[noreturn]] void fail_read(const Reading& reading, int band, const Window& part, const std::string& what,
                            const std::string& words) {
  throw Error(ErrorCode::file_unreadable, {"raster_file", reading.path, what + " can't be read",
                                           "band " + std::to_string(band) + ", window " + part.text() + ": " + words});
}

/// Reads a part of a band as `type`; `target` is the first sample of the part, `row_bytes` the distance of rows.
void read_part(const Reading& reading, GDALRasterBandH source, int band, const char* what, const Window& part,
               GDALDataType type, void* target, std::int64_t row_bytes) {
  MessageCollector messages;
  GDALRasterIOExtraArg extra;
  INIT_RASTERIO_EXTRA_ARG(extra);
  const CPLErr status = source == nullptr
                            ? CE_Failure
                            : GDALRasterIOEx(source, GF_Read, static_cast<int>(part.column), static_cast<int>(part.row),
                                             static_cast<int>(part.width), static_cast<int>(part.height), target,
                                             static_cast<int>(part.width), static_cast<int>(part.height), type,
                                             GDALGetDataTypeSizeBytes(type), row_bytes, &extra);
  // Some drivers report damaged data and still claim success.
  if (status != CE_None || messages.failed()) {
    fail_read(reading, band, part, what, messages.text());
  }
}

/// Offset of a part's first pixel inside the packed window.
std::size_t offset_in(const Window& window, const Window& part) {
  return static_cast<std::size_t>(part.row - window.row) * static_cast<std::size_t>(window.width) +
         static_cast<std::size_t>(part.column - window.column);
}

/// Whether a part consists of whole blocks, as far as the raster goes.
bool is_of_whole_blocks(const Reading& reading, const Window& part) {
  const Extent block = reading.description.info.block;
  const raster::RasterMetadata& metadata = reading.description.metadata;
  const std::int64_t right = part.column + part.width;
  const std::int64_t bottom = part.row + part.height;
  return part.column % block.width == 0 && part.row % block.height == 0 &&
         (right % block.width == 0 || right == metadata.width) &&
         (bottom % block.height == 0 || bottom == metadata.height);
}

/// Reads whole blocks past GDAL's cache: no block is needed twice, so the cache would only take memory and a lock.
void read_blocks(const Reading& reading, int band, std::size_t size, const Window& part, std::byte* target) {
  const GDALRasterBandH source = GDALGetRasterBand(reading.dataset, band);
  const Extent block = reading.description.info.block;
  const std::size_t block_row = static_cast<std::size_t>(block.width) * size;
  const std::size_t target_row = static_cast<std::size_t>(reading.window.width) * size;
  for (std::int64_t y = 0; y < part.height; y += block.height) {
    for (std::int64_t x = 0; x < part.width; x += block.width) {
      const Window inner{part.column + x, part.row + y, std::min(block.width, part.width - x),
                         std::min(block.height, part.height - y)};
      std::byte* const first = target + static_cast<std::size_t>(y) * target_row + static_cast<std::size_t>(x) * size;
      const bool is_in_place = block_row == target_row && inner.height == block.height;
      if (!is_in_place) {
        reading.scratch.resize(block_row * static_cast<std::size_t>(block.height));
      }
      MessageCollector messages;
      const CPLErr status =
          GDALReadBlock(source, static_cast<int>(inner.column / block.width),
                        static_cast<int>(inner.row / block.height), is_in_place ? first : reading.scratch.data());
      if (status != CE_None || messages.failed()) {
        fail_read(reading, band, inner, "a block", messages.text());
      }
      for (std::int64_t row = 0; !is_in_place && row < inner.height; ++row) {
        std::memcpy(first + static_cast<std::size_t>(row) * target_row,
                    reading.scratch.data() + static_cast<std::size_t>(row) * block_row,
                    static_cast<std::size_t>(inner.width) * size);
      }
    }
  }
}

void read_band(const Reading& reading, const residency::BandDestination& destination, const Window& part) {
  const int band = static_cast<int>(destination.band);
  const raster::SampleType type = reading.description.bands[destination.band - 1].type;
  const std::size_t size = raster::size_of(type);
  if (reading.description.bands_decode_alone && is_of_whole_blocks(reading, part)) {
    read_blocks(reading, band, size, part, destination.samples.data() + offset_in(reading.window, part) * size);
    return;
  }
  read_part(reading, GDALGetRasterBand(reading.dataset, band), band, "a block", part, gdal_type_of(type),
            destination.samples.data() + offset_in(reading.window, part) * size,
            reading.window.width * static_cast<std::int64_t>(size));
}

/// Alpha as 0 and 1. Integers are clamped to a byte by GDAL, which keeps zero apart from the rest; fractions would be
/// rounded to zero, so float alpha is read as it is.
std::vector<std::uint8_t> read_alpha(const Reading& reading, int band, const Window& part) {
  const std::size_t pixels = static_cast<std::size_t>(part.pixel_count());
  std::vector<std::uint8_t> opaque(pixels);
  const GDALRasterBandH source = GDALGetRasterBand(reading.dataset, band);
  if (!raster::is_floating_point(reading.description.bands[static_cast<std::size_t>(band - 1)].type)) {
    read_part(reading, source, band, "the alpha band", part, GDT_Byte, opaque.data(), part.width);
    return opaque;
  }
  std::vector<double> values(pixels);
  read_part(reading, source, band, "the alpha band", part, GDT_Float64, values.data(),
            part.width * static_cast<std::int64_t>(sizeof(double)));
  std::transform(values.begin(), values.end(), opaque.begin(),
                 [](double value) { return static_cast<std::uint8_t>(value > 0.0); });
  return opaque;
}

void read_validity(const Reading& reading, residency::ValidityDestination& destination, const Window& part) {
  const ValidityPlane& plane = reading.description.planes[destination.plane];
  std::uint8_t* const first = destination.bytes.data() + offset_in(reading.window, part);
  const std::size_t row_pixels = static_cast<std::size_t>(reading.window.width);
  const std::size_t width = static_cast<std::size_t>(part.width);
  const bool has_mask = plane.mask_of_band != 0 || plane.mask_band != 0;
  if (has_mask) {
    const GDALRasterBandH mask = plane.mask_band != 0
                                     ? GDALGetRasterBand(reading.dataset, plane.mask_band)
                                     : GDALGetMaskBand(GDALGetRasterBand(reading.dataset, plane.mask_of_band));
    read_part(reading, mask, std::max(plane.mask_of_band, 1), "the mask", part, GDT_Byte, first, reading.window.width);
  }
  const std::vector<std::uint8_t> opaque =
      plane.alpha_band == 0 ? std::vector<std::uint8_t>() : read_alpha(reading, plane.alpha_band, part);
  for (std::int64_t y = 0; y < part.height; ++y) {
    std::uint8_t* const row = first + static_cast<std::size_t>(y) * row_pixels;
    const std::uint8_t* const alpha = opaque.empty() ? nullptr : opaque.data() + static_cast<std::size_t>(y) * width;
    std::uint64_t masked = 0;
    std::uint64_t accepted = 0;
    for (std::size_t x = 0; x < width; ++x) {
      const bool passes_mask = !has_mask || row[x] != 0;
      const bool passes = passes_mask && (alpha == nullptr || alpha[x] != 0);
      row[x] = static_cast<std::uint8_t>(passes);
      masked += passes_mask ? 0 : 1;
      accepted += passes ? 1 : 0;
    }
    destination.missing_by_mask += masked;
    destination.missing_by_alpha += width - accepted - masked;
  }
}

std::uint64_t bytes_per_pixel(const RasterDescription& description) {
  std::uint64_t bytes = 0;
  for (const raster::BandInfo& band : description.bands) {
    bytes += raster::size_of(band.type);
  }
  return bytes;
}

}  // namespace

void read_windows(const std::string& path, const RasterDescription& description, GDALDatasetH dataset,
                  const ReadRequest& request, const std::stop_token& stop) {
  const Window& window = request.window;
  std::vector<std::byte> scratch;
  const Reading reading{path, description, dataset, window, scratch};
  for (residency::ValidityDestination& destination : request.validity) {
    destination.missing_by_mask = 0;
    destination.missing_by_alpha = 0;
    destination.missing_by_quality = 0;
    destination.missing_by_unreadable = 0;
  }
  const Extent block = description.info.block;
  const auto most = static_cast<std::int64_t>(std::max<std::uint64_t>(1, step_bytes / bytes_per_pixel(description)));
  const std::int64_t most_columns = std::max<std::int64_t>(1, most / std::min(block.height, window.height));
  const std::int64_t right = window.column + window.width;
  const std::int64_t bottom = window.row + window.height;
  Window part;
  for (part.row = window.row; part.row < bottom; part.row += part.height) {
    const std::int64_t most_rows = std::max<std::int64_t>(1, most / window.width);
    part.height = step_end(part.row, bottom, block.height, most_rows) - part.row;
    for (part.column = window.column; part.column < right; part.column += part.width) {
      part.width = step_end(part.column, right, block.width, std::max(most_columns, most / part.height)) - part.column;
      if (stop.stop_requested()) {
        throw Error(ErrorCode::cancelled, {"raster_file", path, "the application asked to stop", ""});
      }
      for (const residency::BandDestination& destination : request.bands) {
        read_band(reading, destination, part);
      }
      for (residency::ValidityDestination& destination : request.validity) {
        read_validity(reading, destination, part);
      }
    }
  }
}

}  // namespace tessera::io::detail
