#include "input_rasters.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include <tessera/error.hpp>
#include <tessera/io/area.hpp>

#include "option_help.hpp"
#include "quality_mask.hpp"
#include "run.hpp"

namespace tessera::cli {
namespace {

bool parse_number(const std::string& text, std::uint32_t& number) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc() && end == text.data() + text.size();
}

io::Resampling resampling_of(const std::string& name) {
  if (name == "bilinear") return io::Resampling::bilinear;
  return name == "average" ? io::Resampling::average : io::Resampling::nearest;
}

void require_same_grid(const io::RasterFile& first, const io::RasterFile& other) {
  with_advice(ErrorCode::grid_mismatch, "--align first, finest or coarsest brings them to one grid",
              [&] { io::assert_same_grid(first, other); });
}

}  // namespace

/// One file and what stands around it, from the inside out.
struct InputRasters::Input {
  explicit Input(io::RasterFile opened) : file(std::move(opened)) {}

  io::RasterFile file;
  std::optional<io::RasterFile> aligned;
  std::optional<residency::RedescribedSource> redescribed;
  std::optional<residency::SkippingSource> skipping;
  std::optional<residency::SubsetSource> subset;
  std::optional<residency::QualityMaskedSource> masked;
  const residency::TileSource* source = nullptr;

  const io::RasterFile& on_grid() const { return aligned ? *aligned : file; }
};

InputRasters::InputRasters(const InputOptions& options) : options_(options) { options.validate(); }
InputRasters::~InputRasters() = default;

std::size_t InputRasters::open(const std::string& path) {
  const auto known = std::ranges::find_if(inputs_, [&](const auto& input) { return input->file.name() == path; });
  if (known != inputs_.end()) return static_cast<std::size_t>(known - inputs_.begin());
  inputs_.push_back(std::make_unique<Input>(io::RasterFile::open(path, {.open_options = options_.open_options})));
  return inputs_.size() - 1;
}

const io::RasterFile& InputRasters::file(std::size_t input) const { return inputs_[input]->file; }

BandChoice InputRasters::band(std::size_t input, std::uint32_t number) const {
  static_cast<void>(file(input).band(number));
  return {input, number};
}

BandChoice InputRasters::choose(const std::string& scene, const std::string& reference, const std::string& option) {
  const auto named = [&](std::size_t input, const std::string& text) -> BandChoice {
    std::uint32_t number = 0;
    if (!parse_number(text, number)) return {input, file(input).find_band(text)};
    if (number == 0) throw UsageError{fmt::format("{}: bands are numbered from 1", option)};
    return band(input, number);
  };
  std::uint32_t number = 0;
  if (!scene.empty()) {
    const std::size_t input = open(scene);
    const bool is_name =
        std::ranges::find(file(input).bands(), reference, &raster::BandInfo::description) != file(input).bands().end();
    if (is_name || parse_number(reference, number)) return named(input, reference);
  }
  if (std::filesystem::exists(reference)) {
    const std::size_t input = open(reference);
    if (const std::size_t bands = file(input).bands().size(); bands > 1)
      throw UsageError{fmt::format("{}: {} has {} bands; name one as {},BAND", option, reference, bands, reference)};
    return {input, 1};
  }
  if (const auto comma = reference.rfind(','); comma != std::string::npos && comma > 0)
    return named(open(reference.substr(0, comma)), reference.substr(comma + 1));
  if (!scene.empty()) return named(open(scene), reference);
  if (parse_number(reference, number))
    throw UsageError{fmt::format("{}: band {} of which file? Name the scene, or use FILE,BAND", option, reference)};
  return {open(reference), 1};
}

void InputRasters::open_mask() {
  if (options_.mask.empty()) return;
  std::string path = options_.mask;
  std::string band = "1";
  if (const auto comma = path.rfind(','); !std::filesystem::exists(path) && comma != std::string::npos && comma > 0) {
    band = path.substr(comma + 1);
    path.resize(comma);
  }
  mask_ = std::make_unique<Input>(io::RasterFile::open(path));
  if (!parse_number(band, mask_band_))
    mask_band_ = mask_->file.find_band(band);
  else
    static_cast<void>(mask_->file.band(mask_band_));
}

const io::RasterFile& InputRasters::grid_reference() const {
  std::vector<const io::RasterFile*> files;
  for (const auto& input : inputs_) files.push_back(&input->file);
  auto choice = io::GridChoice::first;
  if (options_.align == "finest") choice = io::GridChoice::finest;
  if (options_.align == "coarsest") choice = io::GridChoice::coarsest;
  return *files[io::choose_grid(files, choice)];
}

void InputRasters::bring_to_grid(Input& input, const io::RasterFile& reference, io::Resampling resampling) {
  if (&input.file == &reference) return;
  if (options_.align.empty()) return require_same_grid(reference, input.file);
  try {
    io::assert_same_grid(reference, input.file);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::grid_mismatch) throw;
    input.aligned.emplace(io::align(input.file, reference, resampling));
  }
}

void InputRasters::stack(Input& input) {
  const residency::TileSource* source = &input.on_grid();
  if (&input != mask_.get()) {
    std::vector<raster::BandInfo> bands;
    for (const raster::BandInfo& band : source->bands()) bands.push_back(options_.overridden(band));
    source = &input.redescribed.emplace(*source, std::move(bands));
  }
  if (options_.skips_errors()) source = &input.skipping.emplace(*source);
  if (!options_.window.empty()) {
    const std::vector<std::int64_t>& window = options_.window;
    source = &input.subset.emplace(*source, residency::Window{window[0], window[1], window[2], window[3]});
  } else if (!options_.box.empty()) {
    const std::vector<double>& box = options_.box;
    source = &input.subset.emplace(
        *source, io::window_of_box(*source, {box[0], box[1], box[2], box[3]}, options_.box_reference_system));
  }
  if (&input != mask_.get() && mask_ != nullptr)
    source = &input.masked.emplace(*source, *mask_->source, mask_band_, quality_rule(options_));
  input.source = source;
}

void InputRasters::prepare() {
  open_mask();
  const io::RasterFile& reference = grid_reference();
  const io::Resampling resampling = resampling_of(options_.resampling);
  for (const auto& input : inputs_) bring_to_grid(*input, reference, resampling);
  if (mask_ != nullptr) {
    // Classes and bits have no values in between.
    bring_to_grid(*mask_, reference, io::Resampling::nearest);
    stack(*mask_);
  }
  for (const auto& input : inputs_) stack(*input);
}

const residency::TileSource& InputRasters::source(std::size_t input) const { return *inputs_[input]->source; }

const raster::BandInfo& InputRasters::info(const BandChoice& choice) const {
  return source(choice.input).band(choice.band);
}

std::optional<std::uint32_t> InputRasters::unmasked_plane(const BandChoice& choice) const {
  const auto& masked = inputs_[choice.input]->masked;
  return masked ? masked->unmasked_plane(choice.band) : std::nullopt;
}

std::vector<std::string> InputRasters::files() const {
  std::vector<std::string> names;
  const auto add = [&](const Input& input) {
    names.push_back(input.file.name());
    const std::vector<std::string>& files = input.file.info().files;
    names.insert(names.end(), files.begin(), files.end());
  };
  for (const auto& input : inputs_) add(*input);
  if (mask_ != nullptr) add(*mask_);
  return names;
}

template <class Visitor>
void InputRasters::for_each_skipping(const Visitor& visit) const {
  for (const auto& input : inputs_)
    if (input->skipping) visit(*input->skipping);
  if (mask_ != nullptr && mask_->skipping) visit(*mask_->skipping);
}

std::vector<residency::SkippedBlock> InputRasters::skipped() const {
  std::vector<residency::SkippedBlock> blocks;
  for_each_skipping([&](const residency::SkippingSource& source) {
    const std::vector<residency::SkippedBlock> found = source.skipped();
    blocks.insert(blocks.end(), found.begin(), found.end());
  });
  return blocks;
}

std::uint64_t InputRasters::skipped_count() const {
  std::uint64_t count = 0;
  for_each_skipping([&](const residency::SkippingSource& source) { count += source.skipped_count(); });
  return count;
}

}  // namespace tessera::cli
