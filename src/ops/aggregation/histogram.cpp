#include <tessera/ops/histogram.hpp>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include <tessera/ops/aggregation.hpp>

#include "ops/aggregation/histogram_plan.hpp"
#include "ops/operations.hpp"

namespace tessera {
namespace detail {
namespace {

constexpr std::array<std::string_view, 5> binning_names{"domain", "resident_domain", "automatic_domain", "edges",
                                                        "resident_edges"};
constexpr std::array<std::string_view, 2> values_names{"raw", "calibrated"};
constexpr std::uint64_t largest_bin_count = std::uint64_t{1} << 30;

constexpr std::array ports{
    PortDescription{.name = "input",
                    .formats = sample_formats | formats(Format::float64),
                    .length = LengthRule::any,
                    .layout = PortLayout::strided,
                    .missing = MissingRule::excluded,
                    .text = "Values to count."},
    PortDescription{.name = "mask",
                    .presence = Presence::optional,
                    .formats = formats(Format::uint32),
                    .length = LengthRule::equal,
                    .text = "Rows with a mask of 0 are left out."},
    PortDescription{.name = "domain",
                    .presence = Presence::optional,
                    .formats = scalar_formats,
                    .length = LengthRule::fixed,
                    .rows = 2,
                    .layout = PortLayout::atomic_packed,
                    .text = "Lower and upper bound, for the binning resident_domain."},
    PortDescription{.name = "edges",
                    .presence = Presence::optional,
                    .formats = scalar_formats,
                    .length = LengthRule::described,
                    .layout = PortLayout::atomic_packed,
                    .text = "One more than the bins, for the binning resident_edges."},
    PortDescription{.name = "output",
                    .direction = PortDirection::output,
                    .formats = formats(Format::uint32, Format::uint64),
                    .length = LengthRule::described,
                    .layout = PortLayout::atomic_packed,
                    .alias = AliasRule::separate,
                    .text = "One count per bin."},
    PortDescription{.name = "domain_output",
                    .direction = PortDirection::output,
                    .presence = Presence::optional,
                    .formats = scalar_formats,
                    .length = LengthRule::fixed,
                    .rows = 2,
                    .layout = PortLayout::atomic_packed,
                    .alias = AliasRule::separate,
                    .text = "The automatic domain."},
    PortDescription{.name = "overflow",
                    .direction = PortDirection::output,
                    .presence = Presence::optional,
                    .formats = formats(Format::uint32),
                    .length = LengthRule::fixed,
                    .rows = 1,
                    .layout = PortLayout::atomic_packed,
                    .alias = AliasRule::separate,
                    .text = "1 when a uint32 count wrapped, else 0."},
};

constexpr std::array options{
    OptionDescription{
        .name = "binning",
        .kind = OptionKind::enumeration,
        .enumerators = binning_names,
        .text = "Equal-width bins over a literal, resident or automatic domain, or literal or resident edges."},
    OptionDescription{.name = "bounds",
                      .kind = OptionKind::numbers,
                      .text = "The literal domain (two numbers) or the literal edges."},
    OptionDescription{.name = "values",
                      .kind = OptionKind::enumeration,
                      .initial = "raw",
                      .enumerators = values_names,
                      .text = "Whether a calibrated source is counted as stored or calibrated."},
};

constexpr OperationDescription histogram_description{
    .name = "histogram",
    .family = "aggregation",
    .summary = "Counts of values in bins of equal width or between edges.",
    .ports = ports,
    .options = options,
    .empty_rule = "Every bin is 0.",
    .determinism = DeterminismPromise::same_bits,
};

// What belongs to one choice of bins must be there, and nowhere else.
void require_for(const OperationContext& context, std::string_view operand, bool given, bool needed) {
  if (given == needed) return;
  context.reject(needed ? ErrorCode::missing_operand : ErrorCode::surplus_operand, operand,
                 needed ? "is required by this binning" : "is not an operand of this binning",
                 std::string(binning_names.at(context.choice("binning"))));
}

void check_representable(const OperationContext& context, Format format, double bound) {
  const auto reject = [&](const char* rule) {
    context.reject(ErrorCode::invalid_argument, "bounds", rule, std::to_string(bound));
  };
  if (!std::isfinite(bound)) reject("are finite");
  if (format == Format::float32) {
    if (!std::isfinite(static_cast<float>(bound))) reject("are finite as float32");
    return;
  }
  const bool is_signed = format == Format::sint32;
  const double smallest = is_signed ? std::numeric_limits<std::int32_t>::min() : 0;
  const double largest =
      is_signed ? std::numeric_limits<std::int32_t>::max() : std::numeric_limits<std::uint32_t>::max();
  if (bound < smallest || bound > largest || bound != std::trunc(bound)) reject("are integers of the input's format");
}

void check_bounds(const OperationContext& context, Format format) {
  const std::vector<double>& bounds = *context.numbers("bounds");
  const bool edges = histogram_bins(context) == HistogramBins::edges;
  const std::uint64_t expected = edges ? context.output("output").length() + 1 : 2;
  if (bounds.size() != expected)
    context.reject(ErrorCode::length_mismatch, "bounds", edges ? "are one edge more than the bins" : "are two numbers",
                   std::to_string(bounds.size()) + " numbers, " + std::to_string(expected) + " expected");
  for (const double bound : bounds) check_representable(context, format, bound);
  for (std::size_t i = 1; i < bounds.size(); ++i) {
    const bool is_float = format == Format::float32;
    const double low = is_float ? static_cast<float>(bounds[i - 1]) : bounds[i - 1];
    const double high = is_float ? static_cast<float>(bounds[i]) : bounds[i];
    if (edges ? low < high : low <= high) continue;
    context.reject(ErrorCode::invalid_argument, "bounds", edges ? "strictly increase" : "are in order",
                   std::to_string(bounds[i - 1]) + ", " + std::to_string(bounds[i]));
  }
}

void check_format(const OperationContext& context, std::string_view operand, Format actual, Format expected) {
  if (actual == expected) return;
  context.reject(ErrorCode::format_mismatch, operand, "has the format that values are counted in",
                 std::string(name_of(actual)) + ", " + std::string(name_of(expected)) + " expected");
}

/// Bins on the device: a binning and keys, written by the prologue.
struct DeviceBinning {
  GraphBuffer memory;
  std::uint64_t bytes;
};

class HistogramImplementation final : public OperationImplementation {
 public:
  const OperationDescription& description() const noexcept override { return histogram_description; }
  void validate(const OperationContext& context) const override;
  void record(const OperationContext& context) const override;

 private:
  static std::optional<VectorView> bins_on_device(const OperationContext& context);
  static Dispatch prologue(const OperationContext& context, const std::optional<VectorView>& source,
                           const std::optional<DeviceBinning>& binning);
  static void check_edges(const OperationContext& context, Dispatch dispatch, const DeviceBinning& binning);
  static void count(const OperationContext& context, const std::optional<DeviceBinning>& binning);
};

void HistogramImplementation::validate(const OperationContext& context) const {
  const HistogramBins bins = histogram_bins(context);
  const Format format = histogram_format(context);
  const VectorView& output = context.output("output");
  if (output.length() == 0) context.reject(ErrorCode::length_mismatch, "output", "has at least one bin");
  if (output.length() > largest_bin_count)
    context.reject(ErrorCode::limit_exceeded, "output", "has at most 2^30 bins", std::to_string(output.length()));

  const Input* domain = context.optional_input("domain");
  const Input* edges = context.optional_input("edges");
  require_for(context, "domain", domain != nullptr, bins == HistogramBins::resident_domain);
  require_for(context, "edges", edges != nullptr, bins == HistogramBins::resident_edges);
  require_for(context, "bounds", context.numbers("bounds") != nullptr,
              bins == HistogramBins::domain || bins == HistogramBins::edges);
  const VectorView* domain_output = context.optional_output("domain_output");
  if (domain_output != nullptr) require_for(context, "domain_output", true, bins == HistogramBins::automatic_domain);

  if (context.numbers("bounds") != nullptr) check_bounds(context, format);
  if (domain != nullptr) check_format(context, "domain", domain->format(), format);
  if (domain_output != nullptr) check_format(context, "domain_output", domain_output->format(), format);
  if (edges != nullptr) {
    check_format(context, "edges", edges->format(), format);
    if (edges->length() != output.length() + 1)
      context.reject(ErrorCode::length_mismatch, "edges", "are one more than the bins",
                     std::to_string(edges->length()) + " edges, " + std::to_string(output.length()) + " bins");
  }
  if (context.optional_output("overflow") != nullptr && output.format() != Format::uint32)
    context.reject(ErrorCode::surplus_operand, "overflow", "belongs to uint32 counts",
                   std::string(name_of(output.format())));
}

// The domain or the edges on the device; adds the reduction that finds an automatic domain.
std::optional<VectorView> HistogramImplementation::bins_on_device(const OperationContext& context) {
  switch (histogram_bins(context)) {
    case HistogramBins::resident_domain:
      return context.input("domain").values;
    case HistogramBins::resident_edges:
      return context.input("edges").values;
    case HistogramBins::automatic_domain:
      break;
    default:
      return std::nullopt;
  }
  NodeSink& sink = context.sink();
  const VectorView* published = context.optional_output("domain_output");
  const VectorView extent =
      published != nullptr ? *published : VectorView(sink.transient(8, "domain").view(histogram_format(context), 2));
  const Input& input = context.input("input");
  Source source(input.values);
  if (input.observations) source = source.as_observations();
  if (input.validity) {
    Validity validity{.rows = *input.validity};
    if (input.validity->format() == Format::uint8) validity.kind = ValidityKind::byte;
    if (input.validity_bits) validity = {*input.validity, ValidityKind::bit, *input.validity_bits};
    source = source.with_validity(std::move(validity));
  }
  if (input.no_data) source = source.with_no_data(*input.no_data);
  if (input.calibration && histogram_values(context) == ValueDomain::calibrated)
    source = source.with_calibration(*input.calibration);
  sink.add(Reduction{.input = source, .output = extent, .operation = Reduction::Operation::extent}, "domain");
  return extent;
}

// Clears the output and takes the bins.
Dispatch HistogramImplementation::prologue(const OperationContext& context, const std::optional<VectorView>& source,
                                           const std::optional<DeviceBinning>& binning) {
  NodeSink& sink = context.sink();
  const VectorView& output = context.output("output");
  const std::uint32_t row_words = size_of(output.format()) / 4;
  HistogramPrologueRecord record{};
  record.bins = static_cast<std::uint32_t>(output.length());
  record.count_words = record.bins * row_words;
  record.counts_offset = output.first_row() * size_of(output.format());
  const VectorView* overflow = context.optional_output("overflow");
  if (overflow != nullptr) record.overflow_offset = overflow->first_row() * 4;
  if (source) record.source_offset = source->first_row() * 4;

  Dispatch dispatch;
  dispatch.name = "prologue";
  dispatch.module = "histogram_prologue";
  const bool cpu = sink.device().info().type == DeviceType::cpu;
  const std::uint32_t workgroup_size = cpu ? 64 : 256;
  const bool edges = histogram_bins(context) == HistogramBins::resident_edges;
  const std::uint32_t from = !source ? histogram_source_host : edges ? histogram_source_edges : histogram_source_domain;
  dispatch.constants = {workgroup_size, from, static_cast<std::uint32_t>(histogram_format(context))};
  const std::uint64_t invocations = std::max(record.count_words, record.bins + 1);
  dispatch.groups = fold_workgroups((invocations - 1) / workgroup_size + 1, sink.device().limits(), context.name());
  dispatch.workload = {
      .invocations = invocations, .read_bytes = 0, .write_bytes = std::uint64_t{4} * record.count_words};

  dispatch.arguments = ArgumentRecord(record);
  sink.bind(dispatch, offsetof(HistogramPrologueRecord, counts), output, Access::write);
  if (overflow != nullptr) {
    sink.bind(dispatch, offsetof(HistogramPrologueRecord, overflow), *overflow, Access::write);
  }
  if (source) {
    sink.bind(dispatch, offsetof(HistogramPrologueRecord, source), *source, Access::read);
    dispatch.workload.read_bytes += source->length() * 4;
  }
  if (binning) {
    dispatch.arguments.relocate_transient(offsetof(HistogramPrologueRecord, binning), binning->memory);
    dispatch.buffer_uses.push_back({binning->memory, 0, binning->bytes, Access::write});
    dispatch.workload.write_bytes += binning->bytes;
  }
  return dispatch;
}

// A pass of its own over the edges that the prologue took: invocations look at their neighbours' edges.
void HistogramImplementation::check_edges(const OperationContext& context, Dispatch dispatch,
                                          const DeviceBinning& binning) {
  HistogramPrologueRecord record{};
  record.bins = static_cast<std::uint32_t>(context.output("output").length());
  dispatch.name = "check edges";
  dispatch.constants[1] = histogram_check_edges;
  dispatch.arguments = ArgumentRecord(record);
  dispatch.arguments.relocate_transient(offsetof(HistogramPrologueRecord, binning), binning.memory);
  dispatch.view_uses.clear();
  dispatch.buffer_uses = {{binning.memory, 0, binning.bytes, Access::read_write}};
  dispatch.workload.read_bytes = binning.bytes;
  dispatch.workload.write_bytes = 0;
  context.sink().dispatch(std::move(dispatch));
}

std::vector<std::byte> bytes_of(const HostBinning& host) {
  std::vector<std::byte> bytes(sizeof(HistogramBinning) + host.keys.size() * 4);
  std::memcpy(bytes.data(), &host.binning, sizeof(HistogramBinning));
  if (!host.keys.empty()) std::memcpy(bytes.data() + sizeof(HistogramBinning), host.keys.data(), host.keys.size() * 4);
  return bytes;
}

void HistogramImplementation::count(const OperationContext& context, const std::optional<DeviceBinning>& binning) {
  NodeSink& sink = context.sink();
  const VectorView& output = context.output("output");
  const VectorView* overflow = context.optional_output("overflow");
  const auto bins = static_cast<std::uint32_t>(output.length());
  HostBinning host{};
  std::uint32_t mode = histogram_resident;
  if (histogram_bins(context) == HistogramBins::resident_edges) mode = histogram_search;
  if (!binning) {
    host = make_host_binning(histogram_bins(context), histogram_format(context), *context.numbers("bounds"), bins);
    mode = host.binning.mode;
  }
  const HistogramPlan plan = plan_histogram(context, bins, mode);
  ColumnList columns;
  columns.input(&context.input("input"), histogram_values(context)).plain(context.optional_input("mask"));
  const RowDomain domain(context, columns, plan.tuning, {plan.pass});

  const bool long_counts = output.format() == Format::uint64;
  const bool carry = context.rows() > std::numeric_limits<std::uint32_t>::max();
  const std::string module = "histogram." + std::string(name_of(histogram_format(context)));
  Dispatch dispatch = domain.dispatch("count", module, 0,
                                      {mode, plan.counter_words, plan.copies, plan.key_words, long_counts ? 1U : 0U,
                                       carry ? 1U : 0U, plan.join_lanes ? 1U : 0U});
  HistogramRecord record{};
  record.bins = bins;
  record.counts_offset = output.first_row() * size_of(output.format());
  if (overflow != nullptr) record.overflow_offset = overflow->first_row() * 4;
  dispatch.arguments = domain.arguments(record);
  sink.bind(dispatch, offsetof(HistogramRecord, counts), output, Access::read_write);
  if (overflow != nullptr && carry) {
    sink.bind(dispatch, offsetof(HistogramRecord, overflow), *overflow, Access::read_write);
  }
  if (binning) {
    dispatch.arguments.relocate_transient(offsetof(HistogramRecord, binning), binning->memory);
    dispatch.buffer_uses.push_back({binning->memory, 0, binning->bytes, Access::read});
  } else {
    dispatch.arguments.relocate(offsetof(HistogramRecord, binning), sink.constant(bytes_of(host)));
  }
  dispatch.note +=
      plan.counter_words > 1 ? ", " + std::to_string(plan.copies) + " shared copies" : ", counts in the output";
  sink.dispatch(std::move(dispatch));
}

void HistogramImplementation::record(const OperationContext& context) const {
  std::optional<VectorView> source = bins_on_device(context);
  if (context.rows() == 0) {
    context.sink().dispatch(prologue(context, std::nullopt, std::nullopt));
    return;
  }
  std::optional<DeviceBinning> binning;
  if (source) {
    const std::uint64_t bytes = sizeof(HistogramBinning) + 4 * (context.output("output").length() + 1);
    binning = DeviceBinning{context.sink().transient(bytes, "binning"), bytes};
  }
  const Dispatch first = prologue(context, source, binning);
  context.sink().dispatch(first);
  if (histogram_bins(context) == HistogramBins::resident_edges) check_edges(context, first, *binning);
  count(context, binning);
}

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
// Clang before 17 does not deduce this for an aggregate.
template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

}  // namespace

const OperationImplementation& histogram_operation() {
  static const HistogramImplementation implementation;
  return implementation;
}

}  // namespace detail

Request to_request(const Histogram& operation) {
  using detail::HistogramBins;
  Request request{.operation = "histogram", .id = operation.id, .inputs = {}, .outputs = {}, .options = {}};
  request.input("input", operation.input).input("mask", operation.mask);
  request.output("output", operation.output)
      .output("domain_output", operation.domain_output)
      .output("overflow", operation.overflow);
  const auto choose = [&](HistogramBins bins) {
    request.option("binning", std::string(detail::binning_names.at(static_cast<std::size_t>(bins))));
  };
  std::visit(detail::Overloaded{
                 [&](const Histogram::Domain& domain) {
                   choose(HistogramBins::domain);
                   request.option("bounds", std::vector<double>{domain.low, domain.high});
                 },
                 [&](const Histogram::ResidentDomain& domain) {
                   choose(HistogramBins::resident_domain);
                   request.input("domain", domain.rows);
                 },
                 [&](const Histogram::AutomaticDomain&) { choose(HistogramBins::automatic_domain); },
                 [&](const Histogram::Edges& edges) {
                   choose(HistogramBins::edges);
                   request.option("bounds", edges.values);
                 },
                 [&](const Histogram::ResidentEdges& edges) {
                   choose(HistogramBins::resident_edges);
                   request.input("edges", edges.rows);
                 },
             },
             operation.binning);
  request.option("values", std::string(detail::values_names.at(static_cast<std::size_t>(operation.values))));
  return request;
}

}  // namespace tessera
