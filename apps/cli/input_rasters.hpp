#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tessera/io/alignment.hpp>
#include <tessera/io/raster_file.hpp>
#include <tessera/residency/derived_sources.hpp>
#include <tessera/residency/tile_source.hpp>

#include "input_options.hpp"

namespace tessera::cli {

/// A band of one of the inputs.
struct BandChoice {
  std::size_t input = 0;
  std::uint32_t band = 1;
};

/// The rasters that a job reads, as the options want them: overridden descriptions, one grid, the chosen area, the
/// quality mask, blocks that may be skipped. First bands are chosen, then everything is prepared once.
class InputRasters {
 public:
  explicit InputRasters(const InputOptions& options);
  InputRasters(const InputRasters&) = delete;
  InputRasters& operator=(const InputRasters&) = delete;
  ~InputRasters();

  /// A band number, a band's name, `FILE`, or `FILE,BAND`; numbers and names are those of `scene`, which may be empty.
  BandChoice choose(const std::string& scene, const std::string& reference, const std::string& option);
  /// Opens a file once; the index of the input.
  std::size_t open(const std::string& path);
  const io::RasterFile& file(std::size_t input) const;
  /// Throws `band_out_of_range`.
  BandChoice band(std::size_t input, std::uint32_t number) const;

  /// Brings all inputs to one grid and area. Throws `grid_mismatch` with the way out, and what opening the mask and the
  /// area throw.
  void prepare();

  // after `prepare`
  const residency::TileSource& source(std::size_t input) const;
  const raster::BandInfo& info(const BandChoice& choice) const;
  /// Validity of a band without the quality mask; none where every pixel passes.
  std::optional<std::uint32_t> unmasked_plane(const BandChoice& choice) const;
  bool has_quality_mask() const noexcept { return mask_ != nullptr; }

  /// Every file behind the inputs: an output must not be one of them.
  std::vector<std::string> files() const;
  /// Blocks that could not be read, so far.
  std::vector<residency::SkippedBlock> skipped() const;
  std::uint64_t skipped_count() const;

 private:
  struct Input;
  void open_mask();
  template <class Visitor>
  void for_each_skipping(const Visitor& visit) const;
  const io::RasterFile& grid_reference() const;
  void bring_to_grid(Input& input, const io::RasterFile& reference, io::Resampling resampling);
  void stack(Input& input);

  const InputOptions& options_;
  std::vector<std::unique_ptr<Input>> inputs_;
  std::unique_ptr<Input> mask_;
  std::uint32_t mask_band_ = 1;
};

}  // namespace tessera::cli
