#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <tessera/export.hpp>
#include <tessera/format.hpp>

namespace tessera {

enum class PortDirection : std::uint8_t { input, output };

/// How many rows a port has.
enum class LengthRule : std::uint8_t {
  any,        ///< sets the operation's row count
  equal,      ///< exactly the row count
  covering,   ///< at least the row count; spare rows are never touched
  fixed,      ///< exactly `PortDescription::rows`
  described,  ///< the operation says; see its page
};

/// How a port's rows may lie in memory.
enum class PortLayout : std::uint8_t {
  packed,         ///< chunked, packed rows
  strided,        ///< chunked, any stride that is a multiple of the alignment
  atomic_packed,  ///< one chunk, packed
};

/// What a port's memory may share with others. Disjoint byte ranges of one buffer are always fine.
enum class AliasRule : std::uint8_t {
  input,           ///< read only: may overlap other inputs
  separate,        ///< overlaps no other port
  exact_in_place,  ///< separate, or exactly the rows of an input
};

/// What becomes of rows that are missing in a source with validity, nodata or calibration.
enum class MissingRule : std::uint8_t {
  not_accepted,     ///< only plain rows: a source with missing data is rejected
  excluded,         ///< the population is the rows that are there
  output_validity,  ///< carried to the operation's validity output
  identity,         ///< counts as the operation's neutral value
};

/// A set of formats, as bits `1 << Format`.
using FormatSet = std::uint32_t;
template <class... Formats>
constexpr FormatSet formats(Formats... list) {
  return (FormatSet{0} | ... | (FormatSet{1} << static_cast<unsigned>(list)));
}
constexpr FormatSet scalar_formats = formats(Format::uint32, Format::sint32, Format::float32);
constexpr FormatSet sample_formats =
    scalar_formats | formats(Format::uint8, Format::sint8, Format::uint16, Format::sint16);
constexpr bool contains(FormatSet set, Format format) { return (set >> static_cast<unsigned>(format) & 1U) != 0; }

enum class Presence : std::uint8_t { required, optional, repeated /**< one or more */ };

struct PortDescription {
  std::string_view name;
  PortDirection direction = PortDirection::input;
  Presence presence = Presence::required;
  FormatSet formats = 0;
  std::string_view same_format_as = {};  ///< another port whose compute format this one shares; empty: independent
  LengthRule length = LengthRule::any;
  std::uint64_t rows = 0;  ///< for `LengthRule::fixed`
  PortLayout layout = PortLayout::packed;
  AliasRule alias = AliasRule::input;
  MissingRule missing = MissingRule::not_accepted;
  std::string_view text = {};  ///< one sentence
};

enum class OptionKind : std::uint8_t { enumeration, integer, number, numbers };

struct OptionDescription {
  std::string_view name;
  OptionKind kind = OptionKind::enumeration;
  std::string_view initial = {};  ///< default as text; empty: required
  std::span<const std::string_view> enumerators = {};
  std::string_view text = {};
};

enum class DeterminismPromise : std::uint8_t {
  same_bits,            ///< same result bits on every device, partition and run
  same_bits_on_device,  ///< on one device, whatever the partition
  bounded,              ///< within the bound that the page states
};

/// One operation, described once. Validation, conformance cases, `selftest`, documentation tables and the inspector
/// derive from it. Constant data; thread-safe.
struct OperationDescription {
  std::string_view name;     ///< for example `reduction`
  std::string_view family;   ///< folder: `aggregation`
  std::string_view summary;  ///< one sentence
  std::span<const PortDescription> ports;
  std::span<const OptionDescription> options = {};
  std::string_view empty_rule = {};  ///< what happens without rows
  DeterminismPromise determinism = DeterminismPromise::same_bits;
  bool resident_lengths = true;  ///< operands may carry a count word

  const PortDescription* port(std::string_view port_name) const noexcept {
    for (const PortDescription& port : ports)
      if (port.name == port_name) return &port;
    return nullptr;
  }
};

/// Every operation of this library (and of libraries registered with it), by name.
TESSERA_EXPORT std::span<const OperationDescription* const> operation_descriptions();
/// Null when there is no such operation.
TESSERA_EXPORT const OperationDescription* find_operation(std::string_view name) noexcept;

}  // namespace tessera
