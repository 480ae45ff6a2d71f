#include <algorithm>
#include <array>

#include <tessera/ops/prefix.hpp>

#include "device/internal.hpp"
#include "operand/overlap.hpp"
#include "operand/rows.hpp"
#include "ops/operations.hpp"
#include "ops/prefix/scan_record.h"
#include "ops/prefix/scan_tuning.hpp"

namespace tessera {
namespace detail {
namespace {

constexpr std::array<std::string_view, 2> mode_names{"exclusive", "inclusive"};

enum class Strategy : std::uint8_t { automatic, single_pass, multi_pass };
constexpr std::array<std::string_view, 3> strategy_names{"automatic", "single_pass", "multi_pass"};

constexpr FormatSet value_formats = formats(Format::uint32, Format::uint16, Format::uint8);

constexpr std::array ports{
    PortDescription{.name = "input",
                    .formats = value_formats,
                    .length = LengthRule::any,
                    .missing = MissingRule::identity,
                    .text = "Values to sum."},
    PortDescription{.name = "segment_flags",
                    .presence = Presence::optional,
                    .formats = value_formats,
                    .length = LengthRule::covering,
                    .text = "A row that is not 0 starts a segment; row 0 always does."},
    PortDescription{.name = "output",
                    .direction = PortDirection::output,
                    .formats = formats(Format::uint32),
                    .length = LengthRule::covering,
                    .alias = AliasRule::exact_in_place,
                    .text = "Sums modulo 2^32; may be exactly the rows of the input."},
};

constexpr std::array options{
    OptionDescription{.name = "mode",
                      .kind = OptionKind::enumeration,
                      .initial = "exclusive",
                      .enumerators = mode_names,
                      .text = "Whether a row's sum leaves the row itself out."},
    OptionDescription{.name = "strategy",
                      .kind = OptionKind::enumeration,
                      .initial = "automatic",
                      .enumerators = strategy_names,
                      .text = "For tests and tuning: which kernels run. The result is the same."},
    OptionDescription{.name = "poll_limit",
                      .kind = OptionKind::integer,
                      .initial = "-1",
                      .text = "For tests and tuning: how often a single pass looks at a missing tile before it reduces "
                              "it itself; -1: the "
                              "device's number. The result is the same."},
};

constexpr OperationDescription scan_description{
    .name = "scan",
    .family = "prefix",
    .summary = "Exclusive or inclusive prefix sums, optionally by segment.",
    .ports = ports,
    .options = options,
    .empty_rule = "Nothing is written.",
    .determinism = DeterminismPromise::same_bits,
};

bool in_place(const OperationContext& context) {
  return overlaps(context.output("output"), context.input("input").values);
}

/// The fallback of the single pass reads rows again that another workgroup may have written over in place.
bool single_pass_possible(const OperationContext& context) {
  return context.sink().device().state()->features().shader_buffer_int64_atomics && !in_place(context);
}

ColumnList columns_of(const OperationContext& context) {
  ColumnList columns;
  columns.input(&context.input("input"))
      .plain(context.optional_input("segment_flags"))
      .output(&context.output("output"), in_place(context) ? Access::read_write : Access::write);
  return columns;
}

/// Tiles that this many rows have at most, whatever the partition of packed columns: spans are then no shorter than
/// half a tile on average.
std::uint64_t largest_tile_count(std::uint64_t rows, std::uint32_t tile_rows) {
  return rows < tile_rows ? 1 : 3 * (rows / tile_rows) + 3;
}

void record_single_pass(const OperationContext& context, ScanTuning tuning) {
  NodeSink& sink = context.sink();
  const std::int64_t poll_limit = context.integer("poll_limit");
  if (poll_limit >= 0) tuning.poll_limit = static_cast<std::uint32_t>(poll_limit);
  const RowDomain domain(context, columns_of(context), tuning.rows, {RowPass{}});
  const std::uint64_t bytes = 8 + 8 * std::uint64_t{domain.tiles()};
  const GraphBuffer status = sink.transient(bytes, "status");
  sink.add(FillNode{.id = {}, .target = status, .offset = 0, .bytes = bytes, .word = 0}, "clear status");

  Dispatch dispatch = domain.dispatch("scan tiles", "scan_single_pass", 0, {context.choice("mode"), tuning.poll_limit});
  dispatch.arguments = domain.arguments(ScanRecord{});
  dispatch.arguments.relocate_transient(offsetof(ScanRecord, status), status);
  dispatch.buffer_uses.push_back({status, 0, bytes, Access::read_write});
  dispatch.subgroups = FullSubgroups::required;
  dispatch.note += ", single pass";
  sink.dispatch(std::move(dispatch));
}

/// Tile totals, then blocks of them, then one pass that adds what comes before.
class MultiPassScan {
 public:
  explicit MultiPassScan(const OperationContext& context)
      : context_(context),
        tuning_(multi_pass_tuning(context.sink().device())),
        domain_(context, columns_of(context), tuning_.rows,
                {RowPass{}, RowPass{.tiles_per_group = totals_per_block},
                 RowPass{.tiles_per_group = totals_per_block * totals_per_block},
                 RowPass{.tiles_per_group = 0xffffffffU}}) {}

  void record() {
    if (single_tile()) {
      add_tiles(0);
      return;
    }
    // As many levels as any partition needs, so that the dispatches don't depend on it.
    std::uint64_t totals =
        std::max<std::uint64_t>(domain_.tiles(), largest_tile_count(context_.rows(), tuning_.rows.tile.tile_rows()));
    std::uint32_t levels = 1;
    for (; totals > totals_per_block; totals = (totals - 1) / totals_per_block + 1) ++levels;
    std::uint64_t words = domain_.tiles();
    for (std::uint32_t level = 0; level < levels; ++level) {
      sums_.push_back(context_.sink().transient(8 * words, "sums " + std::to_string(level)));
      words = (words - 1) / totals_per_block + 1;
    }
    add_tile_sums();
    for (std::uint32_t level = 0; level < levels; ++level) add_sums(level);
    add_tiles(levels);
  }

 private:
  std::string module(std::string_view kernel) const {
    return std::string(kernel) + (tuning_.lane_runs ? ".runs" : ".turns");
  }
  bool single_tile() const { return domain_.tiles() == 1 && context_.rows() < tuning_.rows.tile.tile_rows(); }

  ArgumentRecord arguments() const {
    ArgumentRecord record = domain_.arguments(ScanRecord{});
    for (std::size_t level = 0; level < sums_.size(); ++level)
      record.relocate_transient(offsetof(ScanRecord, sums) + 8 * level, sums_[level]);
    return record;
  }

  void use_sums(Dispatch& dispatch, std::size_t level, Access access) const {
    dispatch.buffer_uses.push_back({sums_[level], 0, sums_[level].size(), access});
  }

  void add(Dispatch dispatch) const {
    dispatch.arguments = arguments();
    dispatch.subgroups = FullSubgroups::required;
    dispatch.note += ", multi-pass";
    context_.sink().dispatch(std::move(dispatch));
  }

  void add_tile_sums() const {
    Dispatch dispatch = domain_.dispatch("sum tiles", module("scan_tile_sums"), 0, {context_.choice("mode")});
    dispatch.view_uses.pop_back();  // of the output
    dispatch.workload.write_bytes = sums_[0].size();
    use_sums(dispatch, 0, Access::write);
    add(std::move(dispatch));
  }

  void add_sums(std::uint32_t level) const {
    const auto last_level = static_cast<std::uint32_t>(sums_.size() - 1);
    Dispatch dispatch =
        domain_.dispatch("scan sums " + std::to_string(level), "scan_sums", 1 + level, {0, level, last_level});
    const TileShape geometry = totals_tuning(context_.sink().device());
    dispatch.constants[0] = geometry.workgroup_size;
    dispatch.constants[1] = geometry.rows_per_thread;
    dispatch.view_uses.clear();
    dispatch.workload = {.invocations = std::uint64_t{domain_.groups(1 + level)} * geometry.workgroup_size,
                         .read_bytes = sums_[level].size(),
                         .write_bytes = sums_[level].size()};
    use_sums(dispatch, level, Access::read_write);
    if (level < last_level) use_sums(dispatch, level + 1, Access::write);
    add(std::move(dispatch));
  }

  void add_tiles(std::uint32_t levels) const {
    Dispatch dispatch =
        domain_.dispatch("scan tiles", module("scan_tiles"), 0, {context_.choice("mode"), levels, totals_per_block});
    for (std::size_t level = 0; level < sums_.size(); ++level) use_sums(dispatch, level, Access::read);
    add(std::move(dispatch));
  }

  const OperationContext& context_;
  ScanTuning tuning_;
  RowDomain domain_;
  std::vector<GraphBuffer> sums_;
};

class ScanImplementation final : public OperationImplementation {
 public:
  const OperationDescription& description() const noexcept override { return scan_description; }

  void validate(const OperationContext& context) const override {
    const Input& input = context.input("input");
    if (input.calibration && *input.calibration != Calibration{})
      context.reject(ErrorCode::unsupported_operation, "input", "is summed as stored, without calibration");
    const Input* flags = context.optional_input("segment_flags");
    if (flags != nullptr && overlaps(context.output("output"), flags->values))
      context.reject(ErrorCode::alias, "output", "overlaps no other operand, except exactly the rows of the input",
                     "overlaps segment_flags");
    const std::int64_t poll_limit = context.integer("poll_limit");
    if (poll_limit < -1 || poll_limit > 0x7fffffff)
      context.reject(ErrorCode::invalid_option, "poll_limit", "is -1 or in [0, 2^31)", std::to_string(poll_limit));
    if (strategy(context) == Strategy::single_pass && !single_pass_possible(context))
      context.reject(ErrorCode::unsupported_operation, "strategy",
                     "a single pass needs 64-bit atomics and an output apart from the input");
  }

  void record(const OperationContext& context) const override {
    if (context.rows() == 0) return;
    const Device& device = context.sink().device();
    const ScanTuning tuning = single_pass_tuning(device);
    // One tile needs nothing from others.
    const bool single_pass = single_pass_possible(context) && device.info().type != DeviceType::cpu &&
                             context.rows() >= multi_pass_tuning(device).rows.tile.tile_rows();
    if (strategy(context) == Strategy::single_pass || (strategy(context) == Strategy::automatic && single_pass))
      record_single_pass(context, tuning);
    else
      MultiPassScan(context).record();
  }

 private:
  static Strategy strategy(const OperationContext& context) {
    return static_cast<Strategy>(context.choice("strategy"));
  }
};

}  // namespace

const OperationImplementation& scan_operation() {
  static const ScanImplementation implementation;
  return implementation;
}

}  // namespace detail

Request to_request(const Scan& operation) {
  Request request{.operation = "scan", .id = operation.id, .inputs = {}, .outputs = {}, .options = {}};
  request.input("input", operation.input).input("segment_flags", operation.segment_flags);
  request.output("output", operation.output);
  request.option("mode", std::string(detail::mode_names.at(static_cast<std::size_t>(operation.mode))));
  return request;
}

}  // namespace tessera
