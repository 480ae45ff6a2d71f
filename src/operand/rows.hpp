#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "glsl/rows_record.h"
#include "graph/node_sink.hpp"
#include "operand/context.hpp"

// Row-aligned operands on the host: spans, column records, geometry. See glsl/rows.glsl for the kernels' side.
namespace tessera::detail {

/// Whether a sentinel of that storage format is a NaN.
TESSERA_EXPORT bool is_not_a_number(const RawNoData& no_data, Format format) noexcept;

/// Boundaries of several columns intersected: in a span every column stays inside one chunk.
struct SpanTable {
  std::vector<std::uint64_t> first_row;   ///< per span, and the total
  std::vector<std::uint32_t> placements;  ///< per column, per span: chunk, row in chunk (or bit of it)
  std::uint32_t spans = 0;
};
/// A view whose chunk borders cut rows; with `bits` one of bytes that hold a bit a row. Absent operands have none.
struct SpanView {
  std::optional<VectorView> view;
  std::shared_ptr<const std::vector<BitRange>> bits;
};
/// Cuts `rows` rows at every chunk border of any view. Empty chunks cost nothing; an absent view has placements of 0.
/// Throws `limit_exceeded` beyond 2^32 - 1 spans.
TESSERA_EXPORT SpanTable make_spans(std::uint64_t rows, const std::vector<SpanView>& views, std::string_view operation);

/// How kernels read and write four neighbouring rows: one by one, as 16-byte vectors, or as 64-bit integers, of which a
/// CPU's kernel takes each in one step. The values are those of `wide_access` in glsl/rows.glsl.
enum class WideAccess : std::uint32_t { none, vectors, longs };

/// A workgroup's rows at a time.
struct TileShape {
  std::uint32_t workgroup_size = 256;
  std::uint32_t rows_per_thread = 16;
  std::uint32_t tile_rows() const noexcept { return workgroup_size * rows_per_thread; }
};

/// How an operation's kernels cut rows; numbers per kind of device.
struct RowTuning {
  TileShape tile{};
  std::optional<TileShape> long_tile{};  ///< where spans hold many of them
  /// Where spans begin at any row and are not the shortest: tiles across them. Without it tiles go across spans only
  /// where spans are short.
  std::optional<TileShape> tile_across_spans{};
  /// Where all rows are one span: so many tiles of equal length, if longer than `tile`. The kernels read the length
  /// from the record.
  std::uint32_t shares = 0;
  WideAccess wide_access = WideAccess::vectors;
};
/// GPUs: more rows a workgroup where spans are long, with 16-byte access. CPU-type devices: fewer invocations with more
/// rows each, by 64-bit integers.
TESSERA_EXPORT RowTuning default_row_tuning(const Device& device) noexcept;

/// One column of a kernel: a view and how its rows are read; without a view an optional operand that is absent.
struct Column {
  std::optional<VectorView> view;
  std::shared_ptr<const std::vector<BitRange>> bits;  ///< a bit a row: where they are, per chunk of the view's bytes
  Access access = Access::read;
  std::uint32_t flags = 0;
  RawNoData no_data{};
  Calibration calibration{};
};

/// Whether a kernel reads calibrated or raw values.
enum class ValueDomain : std::uint8_t { raw, calibrated };

/// The columns of an operation's kernels, in the kernels' order.
class TESSERA_EXPORT ColumnList {
 public:
  /// Two columns: the values, and the validity or its absence.
  ColumnList& input(const Input* input, ValueDomain domain = ValueDomain::raw);
  /// One column of plain rows that are only read.
  ColumnList& plain(const Input* input);
  ColumnList& output(const VectorView* view, Access access = Access::write);
  /// Rows that these kernels don't touch, but whose count word limits the operation's rows; at most 8 different words
  /// in all.
  ColumnList& limited_by(const VectorView& view);
  const std::vector<Column>& columns() const noexcept { return columns_; }
  const std::vector<DataView>& counts() const noexcept { return counts_; }

 private:
  std::vector<Column> columns_;
  std::vector<DataView> counts_;
};

/// How many workgroups one dispatch of an operation takes.
struct RowPass {
  std::uint32_t tiles_per_group = 1;
  std::uint32_t largest_groups = 0xffffffffU;  ///< beyond it workgroups take several turns
};

/// The rows of one operation as its kernels walk them. Shared by the operation's dispatches.
class TESSERA_EXPORT RowDomain {
 public:
  /// Needs at least one row. Adds the latch when a view carries a count word.
  RowDomain(const OperationContext& context, const ColumnList& columns, RowTuning tuning, std::vector<RowPass> passes);

  std::uint64_t rows() const noexcept { return rows_; }
  std::uint32_t tiles() const noexcept { return tiles_; }
  std::uint32_t spans() const noexcept { return spans_; }
  bool row_mode() const noexcept { return row_mode_; }
  bool latched() const noexcept { return latched_.has_value(); }
  /// Workgroups of a pass at full length.
  std::uint32_t groups(std::size_t pass) const;

  /// Fills the record's head (`RowsRecord`, then one `ColumnRecord` per column) and says where addresses go.
  template <class Record>
  ArgumentRecord arguments(Record record) const {
    fill(record.rows, record.columns);
    ArgumentRecord result(record);
    relocate(result, offsetof(Record, rows), offsetof(Record, columns));
    return result;
  }

  /// Lets a pass that is no part of the row geometry read the latched counts, if there are any.
  void use_latched(Dispatch& dispatch, std::size_t field_offset) const;

  /// A dispatch with module, specialisation constants (the row constants, then `extra`), geometry, and the columns'
  /// uses.
  Dispatch dispatch(std::string_view name, std::string module, std::size_t pass,
                    const std::vector<std::uint32_t>& extra = {}) const;

 private:
  void build_spans(const OperationContext& context);
  /// Across spans or inside them, and how long.
  void choose_tiles(const SpanTable& table, bool uniform);
  /// A share of one span, in whole turns of the basic tile.
  TileShape share() const;
  void add_latch(const OperationContext& context, const std::vector<DataView>& counts);
  void fill(RowsRecord& rows, ColumnRecord* columns) const;
  void relocate(ArgumentRecord& record, std::size_t rows_offset, std::size_t columns_offset) const;

  std::string operation_;
  DeviceLimits limits_;
  std::vector<Column> columns_;
  RowTuning tuning_;
  TileShape tile_;
  std::vector<RowPass> passes_;
  std::uint64_t rows_ = 0;
  std::uint32_t tiles_ = 0;
  std::uint32_t spans_ = 0;
  bool row_mode_ = false;
  ConstantReference tile_span_;
  ConstantReference first_tile_;
  ConstantReference first_row_;
  ConstantReference placements_;
  struct FirstRow {
    std::uint32_t chunk = 0;
    std::uint32_t row = 0;
  };
  std::vector<FirstRow> first_rows_;  ///< per column, in its chunk list
  std::vector<std::optional<TableReference>> tables_;
  std::vector<std::optional<ConstantReference>> strides_;
  std::optional<GraphBuffer> latched_;
};

/// First specialisation constant that is the operation's own; rows.glsl uses those before.
inline constexpr std::uint32_t first_own_constant = 12;
inline constexpr std::size_t largest_column_count = 8;
/// Rows whose spans rows.glsl finds through shared memory (`group_rows * shared_groups` there).
inline constexpr std::uint32_t longest_tile_across_spans = 8192;

}  // namespace tessera::detail
