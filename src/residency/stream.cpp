#include <tessera/residency/stream.hpp>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

#include <tessera/error.hpp>

#include "residency/stream_slot.hpp"

namespace tessera::residency {
namespace {

using detail::StreamGraphs;
using detail::StreamLayout;
using detail::StreamSlot;

/// Decoders take windows in order, the calling thread submits them in order, one drain thread writes them in order. A
/// window belongs to slot `index % slots` and passes through its stages there.
class StreamRun {
 public:
  StreamRun(Device& device, const StreamJob& job, const StreamOptions& options)
      : device_(device), job_(job), options_(options), layout_(job), graphs_(device, job, layout_) {
    const Extent extent = job.grid.window_extent();
    const Window largest{0, 0, std::min(extent.width, job.grid.raster().width),
                         std::min(extent.height, job.grid.raster().height)};
    const auto count = std::min<std::uint64_t>(std::max<std::uint32_t>(options.slots, 1), job.grid.size());
    for (std::uint64_t i = 0; i < count; ++i)
      slots_.push_back({.memory = StreamSlot(device, layout_, largest.pixel_count())});
    for (const auto& input : layout_.inputs)
      if (std::ranges::find(sources_, input.input.source) == sources_.end()) sources_.push_back(input.input.source);
    const bool on_device =
        std::ranges::all_of(job.inputs, [](const StreamInput& input) { return input.place == StreamPlace::device; });
    reuses_ = job.blank_windows == BlankWindows::reuse && job.output_bands == 0 && on_device;
  }

  void run() {
    const std::stop_callback forward(options_.stop, [this] { stop(nullptr); });
    {
      std::vector<std::jthread> threads;
      for (std::uint32_t i = 0; i < std::max<std::uint32_t>(options_.decode_threads, 1); ++i)
        threads.emplace_back([this] { guard([this] { decode(); }); });
      threads.emplace_back([this] { guard([this] { drain(); }); });
      guard([this] { submit(); });
    }
    if (failure_) std::rethrow_exception(failure_);
    if (stop_.stop_requested()) throw Error(ErrorCode::cancelled, {"stream", {}, "was stopped by the application", {}});
  }

 private:
  enum class Stage : std::uint8_t { free, decoding, decoded, submitted };
  /// What a window of which nothing is stored gave.
  struct BlankResults {
    std::vector<std::byte> results;
    std::vector<ValidityDestination> counts;
  };
  struct Slot {
    StreamSlot memory;
    Stage stage = Stage::free;
    std::uint64_t window = 0;  ///< the next or current one
    bool started = false;
    bool is_blank = false;
    const BlankResults* reused = nullptr;  ///< in place of this window's own
  };

  std::uint64_t total() const { return job_.grid.size(); }
  Slot& slot_of(std::uint64_t window) { return slots_[window % slots_.size()]; }

  template <class Work>
  void guard(const Work& work) {
    try {
      work();
    } catch (...) {
      stop(std::current_exception());
    }
  }

  void stop(std::exception_ptr failure) {
    {
      const std::scoped_lock lock(mutex_);
      if (!failure_) failure_ = failure;
      stop_.request_stop();
    }
    changed_.notify_all();
  }

  /// Waits for a window's stage; false when the run stops.
  bool wait_for(std::uint64_t window, Stage stage) {
    std::unique_lock lock(mutex_);
    Slot& slot = slot_of(window);
    const auto ready = [&] {
      if (stage != Stage::free) return slot.started && slot.window == window && slot.stage == stage;
      return slot.stage == Stage::free &&
             (window < slots_.size() ? !slot.started : slot.window + slots_.size() == window);
    };
    changed_.wait(lock, [&] { return stop_.stop_requested() || ready(); });
    return !stop_.stop_requested();
  }

  void enter(std::uint64_t window, Stage stage) {
    {
      const std::scoped_lock lock(mutex_);
      Slot& slot = slot_of(window);
      slot.window = window;
      slot.stage = stage;
      slot.started = true;
    }
    changed_.notify_all();
  }

  void decode() {
    for (;;) {
      std::uint64_t window = 0;
      {
        const std::scoped_lock lock(mutex_);
        window = next_window_++;
      }
      if (window >= total() || !wait_for(window, Stage::free)) return;
      enter(window, Stage::decoding);
      Slot& slot = slot_of(window);
      slot.memory.window = job_.grid[window];
      slot.is_blank = reuses_ && is_blank(slot.memory.window);
      slot.reused = slot.is_blank ? blank_results(slot.memory.window.pixel_count()) : nullptr;
      if (slot.reused == nullptr) read(slot.memory);
      enter(window, Stage::decoded);
    }
  }

  bool is_blank(const Window& window) const {
    return std::ranges::all_of(sources_, [&](const TileSource* source) {
      std::vector<std::uint32_t> bands;
      std::vector<std::uint32_t> planes;
      for (const auto& input : layout_.inputs)
        if (input.input.source == source) bands.push_back(input.input.band);
      for (const auto& plane : layout_.planes)
        if (plane.source == source) planes.push_back(plane.plane);
      return source->is_blank(window, bands, planes);
    });
  }

  const BlankResults* blank_results(std::uint64_t pixels) {
    const std::scoped_lock lock(mutex_);
    const auto found = blank_results_.find(pixels);
    return found == blank_results_.end() ? nullptr : &found->second;
  }

  /// Keeps what a blank window gave; not where a source found out that it can't be read.
  void keep(const Slot& slot) {
    const StreamSlot& memory = slot.memory;
    if (std::ranges::any_of(memory.counts, [](const auto& count) { return count.missing_by_unreadable > 0; })) return;
    const auto results = memory.results.host().first(layout_.result_bytes);
    const std::scoped_lock lock(mutex_);
    blank_results_.try_emplace(memory.window.pixel_count(),
                               BlankResults{.results = {results.begin(), results.end()}, .counts = memory.counts});
  }

  void read(StreamSlot& slot) const {
    const Window& window = slot.window;
    const std::uint64_t pixels = window.pixel_count();
    for (const TileSource* source : sources_) {
      std::vector<BandDestination> bands;
      std::vector<std::pair<std::size_t, std::size_t>> copies;  // inputs that name a band again
      for (std::size_t i = 0; i < layout_.inputs.size(); ++i) {
        const auto& input = layout_.inputs[i];
        if (input.input.source != source) continue;
        const auto first = std::find_if(layout_.inputs.begin(), layout_.inputs.end(), [&](const auto& other) {
          return other.input.source == source && other.input.band == input.input.band;
        });
        const auto first_index = static_cast<std::size_t>(first - layout_.inputs.begin());
        if (first_index != i)
          copies.emplace_back(first_index, i);
        else
          bands.push_back({input.input.band, slot.samples[i].host().first(pixels * raster::size_of(input.info->type))});
      }
      std::vector<ValidityDestination> planes;
      std::vector<std::size_t> plane_indices;
      for (std::size_t i = 0; i < layout_.planes.size(); ++i) {
        if (layout_.planes[i].source != source) continue;
        const auto bytes = slot.planes[i].host().first(pixels);
        planes.push_back(
            {.plane = layout_.planes[i].plane, .bytes = {reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()}});
        plane_indices.push_back(i);
      }
      source->read({.window = window, .bands = bands, .validity = planes}, stop_.get_token());
      for (std::size_t i = 0; i < planes.size(); ++i) slot.counts[plane_indices[i]] = planes[i];
      for (const auto& [from, to] : copies)
        std::ranges::copy(slot.samples[from].host(), slot.samples[to].host().begin());
    }
  }

  void submit() {
    // Kernels are compiled while the first windows are read.
    if (job_.build && total() > 0) graphs_.prepare(job_.grid[0].pixel_count());
    for (std::uint64_t window = 0; window < total(); ++window) {
      if (!wait_for(window, Stage::decoded)) return;
      Slot& slot = slot_of(window);
      if (job_.build && slot.reused == nullptr) {
        Encoder encoder = device_.encoder("window");
        graphs_.encode(encoder, slot.memory);
        slot.memory.fence = device_.submit(std::move(encoder));
      }
      enter(window, Stage::submitted);
    }
  }

  void drain() {
    for (std::uint64_t window = 0; window < total(); ++window) {
      if (!wait_for(window, Stage::submitted)) return;
      const Slot& slot = slot_of(window);
      if (slot.reused == nullptr) slot.memory.fence.wait();
      write(slot.memory);
      if (job_.accept) job_.accept(slot.reused == nullptr ? streamed(slot.memory) : reused(slot));
      if (slot.is_blank && slot.reused == nullptr) keep(slot);
      enter(window, Stage::free);
      if (options_.progress) options_.progress(window + 1, total());
    }
  }

  static std::span<const std::byte> output_of(const StreamSlot& slot, std::size_t index) {
    return slot.outputs[index].host().first(4 * slot.window.pixel_count());
  }

  void write(const StreamSlot& slot) const {
    if (job_.sink == nullptr) return;
    std::vector<BandSamples> bands;
    for (std::size_t i = 0; i < slot.outputs.size(); ++i)
      bands.push_back({.band = static_cast<std::uint32_t>(i + 1), .samples = output_of(slot, i)});
    job_.sink->write({.window = slot.window, .bands = bands});
  }

  StreamedWindow streamed(const StreamSlot& slot) const {
    StreamedWindow view;
    view.window = slot.window;
    view.results = slot.results.host().first(layout_.result_bytes);
    for (std::size_t i = 0; i < slot.outputs.size(); ++i) view.outputs.push_back(output_of(slot, i));
    const std::uint64_t pixels = slot.window.pixel_count();
    const auto plane_bytes = [&](std::optional<std::size_t> plane) -> std::span<const std::uint8_t> {
      if (!plane) return {};
      const auto bytes = slot.planes[*plane].host().first(pixels);
      return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
    };
    for (std::size_t i = 0; i < layout_.inputs.size(); ++i) {
      const auto& input = layout_.inputs[i];
      view.samples.push_back(slot.samples[i].host().first(pixels * raster::size_of(input.info->type)));
      view.validity.push_back(plane_bytes(input.plane));
      view.unmasked.push_back(plane_bytes(input.unmasked));
    }
    add_counts(slot.counts, view);
    return view;
  }

  StreamedWindow reused(const Slot& slot) const {
    StreamedWindow view;
    view.window = slot.memory.window;
    view.results = slot.reused->results;
    view.samples.resize(layout_.inputs.size());
    view.validity.resize(layout_.inputs.size());
    view.unmasked.resize(layout_.inputs.size());
    add_counts(slot.reused->counts, view);
    return view;
  }

  void add_counts(std::span<const ValidityDestination> by_plane, StreamedWindow& view) const {
    for (const auto& input : layout_.inputs) {
      const ValidityDestination counts = input.plane ? by_plane[*input.plane] : ValidityDestination{};
      view.missing_by_mask.push_back(counts.missing_by_mask);
      view.missing_by_alpha.push_back(counts.missing_by_alpha);
      view.missing_by_quality.push_back(counts.missing_by_quality);
      view.missing_by_unreadable.push_back(counts.missing_by_unreadable);
    }
  }

  Device& device_;
  const StreamJob& job_;
  const StreamOptions& options_;
  StreamLayout layout_;
  StreamGraphs graphs_;
  std::vector<const TileSource*> sources_;
  bool reuses_ = false;
  std::vector<Slot> slots_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::stop_source stop_;
  std::exception_ptr failure_;
  std::uint64_t next_window_ = 0;
  std::map<std::uint64_t, BlankResults> blank_results_;  ///< by number of pixels
};

}  // namespace

std::uint64_t stream_bytes_per_pixel(const Device& device, std::span<const StreamInput> inputs,
                                     std::uint32_t output_bands, const StreamOptions& options) {
  const StreamLayout layout({.inputs = {inputs.begin(), inputs.end()}, .grid = WindowGrid({1, 1}, {1, 1})});
  const std::uint64_t copies = device.limits().host_visible_device_memory ? 1 : 2;
  std::uint64_t bytes = std::uint64_t{output_bands} * 4 * copies;
  for (const auto& input : layout.inputs)
    bytes += raster::size_of(input.info->type) * (input.input.place == StreamPlace::device ? copies : 1);
  for (const StreamPlace place : layout.plane_places) bytes += place == StreamPlace::device ? copies : 1;
  return bytes * std::max<std::uint32_t>(options.slots, 1);
}

void stream(Device& device, const StreamJob& job, const StreamOptions& options) {
  if (job.inputs.empty()) throw Error(ErrorCode::missing_operand, {"stream", "inputs", "has at least one band", {}});
  StreamRun(device, job, options).run();
}

}  // namespace tessera::residency
