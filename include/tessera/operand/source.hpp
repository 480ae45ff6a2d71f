#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include <tessera/export.hpp>
#include <tessera/graph/graph.hpp>
#include <tessera/graph/vector.hpp>
#include <tessera/graph/views.hpp>

namespace tessera {

/// Rows that an operand names: a view of the graph it is added to, or a device vector, which the graph then imports.
using Rows = std::variant<VectorView, Vector>;

/// How a column of validity says that a row is missing.
enum class ValidityKind : std::uint8_t {
  word,  ///< one uint32 per row (Format::uint32), 0 = missing
  byte,  ///< one byte per row (Format::uint8), 0 = missing
  bit,   ///< one bit per row, in bytes (Format::uint8) from the least significant bit up, 0 = missing; as Arrow has it
};

/// Where the rows of one chunk of a bit mask are: bits `[first_bit, first_bit + length)` of the chunk's bytes.
struct BitRange {
  std::uint64_t first_bit = 0;
  std::uint64_t length = 0;
  friend bool operator==(const BitRange&, const BitRange&) noexcept = default;
};

/// Which rows hold an observation. As long as the values it belongs to; chunk borders may differ.
///
/// A bit mask's `rows` are its bytes, packed, chunk by chunk and whole (no slice of a longer list), and `bits` has one
/// entry per chunk. Bits before and behind a chunk's rows may hold anything. Rebinding replaces the bytes; where the
/// rows are in them is part of the compiled graph.
struct Validity {
  Rows rows;
  ValidityKind kind = ValidityKind::word;
  std::vector<BitRange> bits = {};  ///< for `ValidityKind::bit`
};

/// One chunk of a bit mask in device memory, which may begin at any bit.
struct BitChunk {
  Buffer buffer{};
  std::uint64_t bit_offset = 0;  ///< of the first row's bit, from the buffer's begin
  std::uint64_t length = 0;      ///< rows; 0 is legal and keeps its place
};

/// A bit mask over chunks. Throws as `Vector`: `range_out_of_bounds` (a chunk leaves its buffer), `foreign_device`,
/// `limit_exceeded` (a chunk of 2^32 bytes or more).
TESSERA_EXPORT Validity bit_validity(const std::vector<BitChunk>& chunks);

/// Calibrated value = raw * scale + offset, in float32. Both finite.
struct Calibration {
  float scale = 1.0F;
  float offset = 0.0F;
  friend bool operator==(const Calibration&, const Calibration&) noexcept = default;
};

/// The raw sentinel of missing rows as a bit pattern of the storage format, in the low bytes. Integers compare exactly,
/// before any conversion; in a float format both zeros match either zero. A NaN is not compared (a float that is not
/// finite is missing anyway); it only says why a NaN is missing, to an operation that tells reasons apart.
struct RawNoData {
  std::uint64_t bits = 0;
  friend bool operator==(const RawNoData&, const RawNoData&) noexcept = default;
};

/// An input of an operation: rows, and for sources that carry missing data what makes a row an observation.
/// A row is missing when its validity is 0, when it equals the raw sentinel, when a float with missing data is not
/// finite, or when its calibrated value is not finite. What an operation does with a missing row is part of its
/// description. Has no default: a forgotten input does not compile. Immutable value; thread-safe.
class TESSERA_EXPORT Source {
 public:
  Source(const VectorView& view) : rows_(view) {}                 // NOLINT(google-explicit-constructor)
  Source(const DataView& view) : rows_(VectorView(view)) {}       // NOLINT(google-explicit-constructor)
  Source(const ImportedVector& import) : rows_(import.view()) {}  // NOLINT(google-explicit-constructor)
  Source(const Vector& vector) : rows_(vector) {}                 // NOLINT(google-explicit-constructor)
  explicit Source(Rows rows) : rows_(std::move(rows)) {}

  /// The same rows as observations: with missing data and calibration. Given at least one of these, floats that are not
  /// finite are missing too.
  Source with_validity(Validity validity) const;
  Source with_no_data(RawNoData no_data) const;
  Source with_calibration(Calibration calibration) const;
  /// Observations without a mask or sentinel: only floats that are not finite are missing.
  Source as_observations() const;

  const Rows& rows() const noexcept { return rows_; }
  const std::optional<Validity>& validity() const noexcept { return validity_; }
  const std::optional<RawNoData>& no_data() const noexcept { return no_data_; }
  const std::optional<Calibration>& calibration() const noexcept { return calibration_; }
  /// True when rows may be missing.
  bool observations() const noexcept { return observations_; }

  Format format() const noexcept;
  std::uint64_t length() const noexcept;

 private:
  Rows rows_;
  std::optional<Validity> validity_;
  std::optional<RawNoData> no_data_;
  std::optional<Calibration> calibration_;
  bool observations_ = false;
};

/// An output of an operation. Has no default. Immutable value; thread-safe.
class TESSERA_EXPORT Target {
 public:
  Target(const VectorView& view) : rows_(view) {}                 // NOLINT(google-explicit-constructor)
  Target(const DataView& view) : rows_(VectorView(view)) {}       // NOLINT(google-explicit-constructor)
  Target(const ImportedVector& import) : rows_(import.view()) {}  // NOLINT(google-explicit-constructor)
  Target(const Vector& vector) : rows_(vector) {}                 // NOLINT(google-explicit-constructor)

  const Rows& rows() const noexcept { return rows_; }
  Format format() const noexcept;
  std::uint64_t length() const noexcept;

 private:
  Rows rows_;
};

}  // namespace tessera
