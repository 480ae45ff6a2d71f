#include "residency/stream_slot.hpp"

#include <algorithm>

namespace tessera::residency::detail {
namespace {

std::uint64_t whole_words(std::uint64_t bytes) { return (bytes + 3) / 4 * 4; }

raster::Band band_of(const StreamLayout::Input& input, const VectorView& values) {
  raster::Band band{.id = input.info->description, .values = values};
  band.no_data = input.info->no_data;
  band.scale = input.info->scale_or_default();
  band.offset = input.info->offset_or_default();
  return band;
}

}  // namespace

StreamLayout::StreamLayout(const StreamJob& job) : output_bands(job.output_bands), result_bytes(job.result_bytes) {
  for (const StreamInput& input : job.inputs) {
    Input entry{.input = input, .info = &input.source->band(input.band), .plane = {}, .unmasked = {}};
    if (entry.info->validity != raster::ValiditySource::none) entry.plane = plane_of(input, entry.info->validity_plane);
    if (input.unmasked_plane) entry.unmasked = plane_of(input, *input.unmasked_plane);
    inputs.push_back(entry);
  }
}

std::size_t StreamLayout::plane_of(const StreamInput& input, std::uint32_t plane) {
  const PlaneKey key{input.source, plane};
  const auto found = std::find(planes.begin(), planes.end(), key);
  const auto index = static_cast<std::size_t>(found - planes.begin());
  if (found == planes.end()) {
    planes.push_back(key);
    plane_places.push_back(input.place);
  }
  if (input.place == StreamPlace::device) plane_places[index] = StreamPlace::device;
  return index;
}

StreamMemory StreamMemory::on_host(std::uint64_t bytes) {
  StreamMemory memory;
  memory.bytes_.resize(bytes);
  memory.host_ = memory.bytes_;
  return memory;
}

StreamMemory StreamMemory::input(Device& device, std::uint64_t bytes, const char* name) {
  StreamMemory memory;
  memory.buffer_ = device.allocate(whole_words(bytes), {.memory = MemoryKind::device, .name = name});
  if (memory.buffer_.mapped().empty())
    memory.staging_ = device.allocate(whole_words(bytes), {.memory = MemoryKind::upload, .name = name});
  memory.host_ = (memory.staging_ ? memory.staging_ : memory.buffer_).mapped();
  return memory;
}

StreamMemory StreamMemory::output(Device& device, std::uint64_t bytes, const char* name) {
  StreamMemory memory;
  memory.buffer_ = device.allocate(whole_words(bytes), {.memory = MemoryKind::device, .name = name});
  // Mapped memory of a CPU-type device is ordinary memory; elsewhere the host reads cached memory much faster.
  if (memory.buffer_.mapped().empty() || device.info().type != DeviceType::cpu)
    memory.staging_ = device.allocate(whole_words(bytes), {.memory = MemoryKind::download, .name = name});
  memory.host_ = (memory.staging_ ? memory.staging_ : memory.buffer_).mapped();
  return memory;
}

void StreamMemory::record_upload(Encoder& encoder, std::uint64_t bytes) const {
  if (staging_) encoder.copy(staging_, 0, buffer_, 0, whole_words(bytes));
}

void StreamMemory::record_download(Encoder& encoder, std::uint64_t bytes) const {
  if (staging_) encoder.copy(buffer_, 0, staging_, 0, whole_words(bytes));
}

StreamSlot::StreamSlot(Device& device, const StreamLayout& layout, std::uint64_t pixels) {
  for (const StreamLayout::Input& input : layout.inputs) {
    const std::uint64_t bytes = pixels * raster::size_of(input.info->type);
    samples.push_back(input.input.place == StreamPlace::device ? StreamMemory::input(device, bytes, "samples")
                                                               : StreamMemory::on_host(bytes));
  }
  for (const StreamPlace place : layout.plane_places)
    planes.push_back(place == StreamPlace::device ? StreamMemory::input(device, pixels, "validity")
                                                  : StreamMemory::on_host(pixels));
  counts.resize(planes.size());
  for (std::uint32_t i = 0; i < layout.output_bands; ++i)
    outputs.push_back(StreamMemory::output(device, 4 * pixels, "output"));
  // A graph names the results even where it writes none.
  results = StreamMemory::output(device, std::max<std::uint64_t>(layout.result_bytes, 4), "results");
}

StreamGraphs::Compiled& StreamGraphs::compiled(std::uint64_t pixels) {
  Compiled& entry = by_pixels_[pixels];
  if (entry.graph) return entry;
  Graph graph(device_);
  entry.results = graph.declare_buffer("results", std::max<std::uint64_t>(whole_words(layout_.result_bytes), 4));
  StreamViews views{.inputs = {}, .outputs = {}, .results = *entry.results};
  std::vector<std::optional<VectorView>> planes;
  const auto declare = [&](const std::string& id, Format format) {
    return graph.declare({.id = id, .format = format, .chunk_lengths = {pixels}});
  };
  for (std::size_t i = 0; i < layout_.planes.size(); ++i) {
    planes.emplace_back();
    if (layout_.plane_places[i] != StreamPlace::device) continue;
    entry.planes.push_back(declare("validity " + std::to_string(i), Format::uint8));
    planes.back() = entry.planes.back().view();
  }
  for (std::size_t i = 0; i < layout_.inputs.size(); ++i) {
    const StreamLayout::Input& input = layout_.inputs[i];
    if (input.input.place != StreamPlace::device) continue;
    entry.samples.push_back(declare("samples " + std::to_string(i), raster::storage_format(input.info->type)));
    raster::Band band = band_of(input, entry.samples.back().view());
    const auto validity = [&](std::optional<std::size_t> plane) {
      return plane ? std::optional(Validity{.rows = *planes[*plane], .kind = ValidityKind::byte}) : std::nullopt;
    };
    band.validity = validity(input.plane);
    views.inputs.push_back(band);
    views.unmasked.push_back(validity(input.unmasked));
  }
  for (std::uint32_t i = 0; i < layout_.output_bands; ++i) {
    entry.outputs.push_back(declare("output " + std::to_string(i), Format::float32));
    views.outputs.push_back(entry.outputs.back().view());
  }
  job_.build(graph, views);
  entry.graph = graph.compile();
  return entry;
}

std::vector<Rebinding> StreamGraphs::bindings(const Compiled& compiled, const StreamSlot& slot,
                                              std::uint64_t pixels) const {
  std::vector<Rebinding> list;
  const auto bind = [&](const ImportedVector& import, const StreamMemory& memory) {
    list.push_back(
        rebind(import, Vector(import.view().format(), {Chunk{.buffer = memory.device_buffer(), .length = pixels}})));
  };
  std::size_t next = 0;
  for (std::size_t i = 0; i < layout_.inputs.size(); ++i)
    if (layout_.inputs[i].input.place == StreamPlace::device) bind(compiled.samples[next++], slot.samples[i]);
  next = 0;
  for (std::size_t i = 0; i < layout_.planes.size(); ++i)
    if (layout_.plane_places[i] == StreamPlace::device) bind(compiled.planes[next++], slot.planes[i]);
  for (std::size_t i = 0; i < slot.outputs.size(); ++i) bind(compiled.outputs[i], slot.outputs[i]);
  list.push_back(rebind(*compiled.results, slot.results.device_buffer()));
  return list;
}

void StreamGraphs::encode(Encoder& encoder, const StreamSlot& slot) {
  const std::uint64_t pixels = slot.window.pixel_count();
  for (std::size_t i = 0; i < layout_.inputs.size(); ++i)
    slot.samples[i].record_upload(encoder, pixels * raster::size_of(layout_.inputs[i].info->type));
  for (const StreamMemory& plane : slot.planes) plane.record_upload(encoder, pixels);
  Compiled& entry = compiled(pixels);
  entry.graph->encode(encoder, bindings(entry, slot, pixels));
  for (const StreamMemory& output : slot.outputs) output.record_download(encoder, 4 * pixels);
  if (layout_.result_bytes != 0) slot.results.record_download(encoder, layout_.result_bytes);
}

}  // namespace tessera::residency::detail
