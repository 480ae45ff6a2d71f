#include "operand/validate.hpp"

#include <algorithm>
#include <cmath>

#include <tessera/error.hpp>

#include "operand/overlap.hpp"

namespace tessera::detail {
namespace {

std::string names_of(FormatSet set) {
  std::string text;
  for (unsigned i = 0; i < 32; ++i) {
    if ((set >> i & 1U) == 0) continue;
    if (!text.empty()) text += ", ";
    text += name_of(static_cast<Format>(i));
  }
  return text;
}

/// One operand with the port it fills.
struct Operand {
  const PortDescription* port;
  const VectorView* view;
  const Input* input;  ///< null for an output
};

class Validation {
 public:
  Validation(const OperationContext& context, const Request& request) : context_(context), request_(request) {
    for (const PortDescription& port : context.description().ports) collect(port);
  }

  void run() const {
    check_presence();
    check_options();
    for (const Operand& operand : operands_) {
      check_ownership(*operand.view, operand.port->name);
      check_format(operand);
      check_layout(operand);
      check_length(operand);
      check_count(operand);
      if (operand.input != nullptr) check_missing(operand);
    }
    check_aliases();
  }

 private:
  void collect(const PortDescription& port) {
    if (port.direction == PortDirection::output) {
      if (const VectorView* view = context_.optional_output(port.name)) operands_.push_back({&port, view, nullptr});
      return;
    }
    context_.for_each_input([&](std::string_view name, const Input& input) {
      if (name == port.name) operands_.push_back({&port, &input.values, &input});
    });
  }

  void check_presence() const {
    for (const PortDescription& port : context_.description().ports) {
      const auto count = std::count_if(operands_.begin(), operands_.end(),
                                       [&](const Operand& operand) { return operand.port == &port; });
      if (count == 0 && port.presence != Presence::optional)
        context_.reject(ErrorCode::missing_operand, port.name, "is required");
      if (count > 1 && port.presence != Presence::repeated)
        context_.reject(ErrorCode::surplus_operand, port.name, "is given once", std::to_string(count));
    }
  }

  void check_options() const {
    for (const auto& [name, value] : request_.options) {
      const auto& options = context_.description().options;
      if (std::none_of(options.begin(), options.end(), [&](const auto& option) { return option.name == name; }))
        context_.reject(ErrorCode::invalid_option, name, "is not an option of this operation");
    }
    for (const OptionDescription& option : context_.description().options)
      if (option.kind == OptionKind::enumeration && (context_.given(option.name) || !option.initial.empty()))
        context_.choice(option.name);
  }

  void check_ownership(const VectorView& view, std::string_view port) const {
    if (view.graph() != context_.sink().graph())
      context_.reject(ErrorCode::foreign_graph, port, "belongs to the graph that it is added to");
  }

  void check_format(const Operand& operand) const {
    const Format format = operand.view->format();
    if (!contains(operand.port->formats, format))
      context_.reject(ErrorCode::format_mismatch, operand.port->name,
                      "has one of the formats " + names_of(operand.port->formats), std::string(name_of(format)));
    if (operand.port->same_format_as.empty()) return;
    for (const Operand& other : operands_) {
      if (other.port->name != operand.port->same_format_as) continue;
      if (compute_format(format) != compute_format(other.view->format()))
        context_.reject(ErrorCode::format_mismatch, operand.port->name,
                        "has the format of " + std::string(other.port->name),
                        std::string(name_of(format)) + " and " + std::string(name_of(other.view->format())));
    }
  }

  void check_layout(const Operand& operand) const {
    const ChunkList& list = *operand.view->chunk_list();
    const std::uint32_t row_bytes = size_of(list.format);
    if (operand.port->layout == PortLayout::atomic_packed && list.chunks.size() != 1)
      context_.reject(ErrorCode::layout_mismatch, operand.port->name, "is one chunk",
                      std::to_string(list.chunks.size()) + " chunks");
    for (const GraphChunk& chunk : list.chunks) {
      if (operand.port->layout != PortLayout::strided && chunk.byte_stride != row_bytes)
        context_.reject(
            ErrorCode::layout_mismatch, operand.port->name, "is packed",
            "stride " + std::to_string(chunk.byte_stride) + ", row of " + std::to_string(row_bytes) + " bytes");
      if (chunk.byte_stride > 0xffffffffU)
        context_.reject(ErrorCode::limit_exceeded, operand.port->name, "has a stride below 4 GiB",
                        std::to_string(chunk.byte_stride));
    }
  }

  void check_length(const Operand& operand) const {
    const std::uint64_t length = operand.view->length();
    const PortDescription& port = *operand.port;
    const auto expect = [&](bool good, ErrorCode code, const char* rule, std::uint64_t rows) {
      if (!good)
        context_.reject(code, port.name, rule, std::to_string(length) + " rows, " + std::to_string(rows) + " expected");
    };
    if (port.length == LengthRule::any || port.length == LengthRule::equal)
      expect(length == context_.rows(), ErrorCode::length_mismatch, "has as many rows as the input", context_.rows());
    if (port.length == LengthRule::covering)
      expect(length >= context_.rows(), ErrorCode::capacity_too_small, "holds at least the rows of the input",
             context_.rows());
    if (port.length == LengthRule::fixed)
      expect(length == port.rows, ErrorCode::length_mismatch, "has exactly the rows of the result", port.rows);
  }

  void check_count(const Operand& operand) const {
    if (!operand.view->count()) return;
    const bool row_aligned = operand.port->length != LengthRule::fixed && operand.port->length != LengthRule::described;
    if (!context_.description().resident_lengths || !row_aligned)
      context_.reject(ErrorCode::unsupported_operation, operand.port->name, "takes no length that lives on the device");
  }

  void check_missing(const Operand& operand) const {
    const Input& input = *operand.input;
    if (!input.observations) return;
    if (operand.port->missing == MissingRule::not_accepted)
      context_.reject(ErrorCode::unsupported_operation, operand.port->name,
                      "takes plain rows, without validity, nodata or calibration");
    if (input.calibration && !(std::isfinite(input.calibration->scale) && std::isfinite(input.calibration->offset)))
      context_.reject(ErrorCode::invalid_argument, operand.port->name, "has a finite scale and offset",
                      std::to_string(input.calibration->scale) + ", " + std::to_string(input.calibration->offset));
    if (!input.validity) return;
    check_ownership(*input.validity, operand.port->name);
    if (input.validity_bits) return check_bits(operand, *input.validity, *input.validity_bits);
    const Format format = input.validity->format();
    if (format != Format::uint32 && format != Format::uint8)
      context_.reject(ErrorCode::format_mismatch, operand.port->name, "has a validity of uint32 words or uint8 bytes",
                      std::string(name_of(format)));
    if (input.validity->length() != input.length())
      context_.reject(ErrorCode::length_mismatch, operand.port->name, "has a validity as long as its values",
                      std::to_string(input.validity->length()) + " and " + std::to_string(input.length()));
  }

  void check_bits(const Operand& operand, const VectorView& bytes, const std::vector<BitRange>& bits) const {
    const auto expect = [&](bool good, ErrorCode code, const char* rule, const std::string& values) {
      if (!good) context_.reject(code, operand.port->name, rule, values);
    };
    const ChunkList& list = *bytes.chunk_list();
    expect(bytes.format() == Format::uint8, ErrorCode::format_mismatch, "has a bit mask of uint8 bytes",
           std::string(name_of(bytes.format())));
    expect(!bytes.count(), ErrorCode::unsupported_operation, "has a bit mask without a length of its own", {});
    expect(bytes.first_row() == 0 && bytes.length() == list.first_row.back(), ErrorCode::layout_mismatch,
           "has a bit mask of whole chunks", std::to_string(bytes.length()) + " bytes of a longer list");
    expect(bits.size() == list.chunks.size(), ErrorCode::length_mismatch,
           "has a bit mask with one range of bits per chunk",
           std::to_string(bits.size()) + " and " + std::to_string(list.chunks.size()));
    std::uint64_t rows = 0;
    for (std::size_t i = 0; i < bits.size(); ++i) {
      const GraphChunk& chunk = list.chunks[i];
      const std::string values = "bits " + std::to_string(bits[i].first_bit) + " and " +
                                 std::to_string(bits[i].length) + " more, " + std::to_string(chunk.length) + " bytes";
      expect(chunk.length < 2 || chunk.byte_stride == 1, ErrorCode::layout_mismatch, "has a packed bit mask", values);
      const std::uint64_t room = 8 * chunk.length;
      expect(bits[i].first_bit <= room && bits[i].length <= room - bits[i].first_bit, ErrorCode::range_out_of_bounds,
             "has a bit mask whose bits stay inside their chunks", values);
      expect(bits[i].first_bit + bits[i].length <= 0xffffffffU, ErrorCode::limit_exceeded,
             "has a bit mask of fewer than 2^32 bits a chunk", values);
      rows += bits[i].length;
    }
    expect(rows == operand.view->length(), ErrorCode::length_mismatch, "has a validity as long as its values",
           std::to_string(rows) + " and " + std::to_string(operand.view->length()));
  }

  void check_aliases() const {
    for (const Operand& output : operands_) {
      if (output.port->direction != PortDirection::output) continue;
      if (overlaps_itself(*output.view))
        context_.reject(ErrorCode::alias, output.port->name, "has chunks that share no byte");
      for (const Operand& other : operands_) {
        if (&other == &output) continue;
        check_pair(output, other, *other.view);
        if (other.input != nullptr && other.input->validity) check_pair(output, other, *other.input->validity);
        if (other.view->count()) check_pair(output, other, VectorView(*other.view->count()));
      }
      if (output.view->count()) check_pair(output, output, VectorView(*output.view->count()));
    }
  }

  void check_pair(const Operand& output, const Operand& other, const VectorView& view) const {
    if (!overlaps(*output.view, view)) return;
    const bool whole = &view == other.view && other.port->direction == PortDirection::input;
    if (whole && output.port->alias == AliasRule::exact_in_place && same_rows(*output.view, view)) return;
    context_.reject(ErrorCode::alias, output.port->name,
                    output.port->alias == AliasRule::exact_in_place
                        ? "overlaps no other operand, except exactly the rows of an input"
                        : "overlaps no other operand",
                    "overlaps " + std::string(other.port->name));
  }

  const OperationContext& context_;
  const Request& request_;
  std::vector<Operand> operands_;
};

}  // namespace

void validate_request(const OperationContext& context, const Request& request) { Validation(context, request).run(); }

}  // namespace tessera::detail
