#include "operand/rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include <tessera/error.hpp>

namespace tessera::detail {
namespace {

template <class T>
std::vector<std::byte> to_bytes(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

bool uniform_stride(const VectorView& view) {
  const auto& chunks = view.chunk_list()->chunks;
  return std::all_of(chunks.begin(), chunks.end(),
                     [&](const GraphChunk& chunk) { return chunk.byte_stride == chunks.front().byte_stride; });
}

std::vector<std::byte> strides_of(const VectorView& view) {
  std::vector<std::uint32_t> strides;
  for (const GraphChunk& chunk : view.chunk_list()->chunks)
    strides.push_back(static_cast<std::uint32_t>(chunk.byte_stride));
  return to_bytes(strides);
}

std::uint32_t flags_of(const VectorView& view) {
  auto flags = static_cast<std::uint32_t>(view.format()) | column_present;
  if (view.chunk_list()->chunks.size() <= longest_inline_table) flags |= column_entries;
  if (!uniform_stride(view)) return flags | column_strides;
  const bool packed = view.chunk_list()->chunks.front().byte_stride == size_of(view.format());
  return packed ? flags | column_packed : flags;
}

Column plain_column(const VectorView& view, Access access) {
  Column column;
  column.view = view;
  column.access = access;
  column.flags = flags_of(view);
  return column;
}

}  // namespace

bool is_not_a_number(const RawNoData& no_data, Format format) noexcept {
  if (format == Format::float32) return std::isnan(std::bit_cast<float>(static_cast<std::uint32_t>(no_data.bits)));
  return format == Format::float64 && std::isnan(std::bit_cast<double>(no_data.bits));
}

RowTuning default_row_tuning(const Device& device) noexcept {
  if (device.info().type == DeviceType::cpu)
    return {.tile = {.workgroup_size = 32, .rows_per_thread = 64},
            .long_tile = TileShape{.workgroup_size = 32, .rows_per_thread = 1024},
            .wide_access = WideAccess::longs};
  return {.tile = {.workgroup_size = 256, .rows_per_thread = 16},
          .long_tile = TileShape{.workgroup_size = 512, .rows_per_thread = 16},
          .tile_across_spans = TileShape{.workgroup_size = 256, .rows_per_thread = 32}};
}

ColumnList& ColumnList::input(const Input* input, ValueDomain domain) {
  if (input == nullptr) {
    columns_.resize(columns_.size() + 2);
    return *this;
  }
  Column column = plain_column(input->values, Access::read);
  if (input->observations) column.flags |= column_finite;
  if (input->no_data && !is_not_a_number(*input->no_data, input->format())) {
    column.flags |= column_compare;
    column.no_data = *input->no_data;
  }
  if (domain == ValueDomain::calibrated && input->calibration && *input->calibration != Calibration{}) {
    column.flags |= column_calibrate;
    column.calibration = *input->calibration;
  }
  if (input->validity) column.flags |= column_validity;
  columns_.push_back(column);
  columns_.push_back(input->validity ? plain_column(*input->validity, Access::read) : Column{});
  if (input->validity_bits) {
    columns_.back().bits = input->validity_bits;
    columns_.back().flags |= column_bits;
  }
  return *this;
}

ColumnList& ColumnList::plain(const Input* input) {
  columns_.push_back(input == nullptr ? Column{} : plain_column(input->values, Access::read));
  return *this;
}

ColumnList& ColumnList::output(const VectorView* view, Access access) {
  columns_.push_back(view == nullptr ? Column{} : plain_column(*view, access));
  return *this;
}

ColumnList& ColumnList::limited_by(const VectorView& view) {
  if (const auto& count = view.count(); count && std::find(counts_.begin(), counts_.end(), *count) == counts_.end())
    counts_.push_back(*count);
  return *this;
}

RowDomain::RowDomain(const OperationContext& context, const ColumnList& columns, RowTuning tuning,
                     std::vector<RowPass> passes)
    : operation_(context.name()),
      limits_(context.sink().device().limits()),
      columns_(columns.columns()),
      tuning_(tuning),
      tile_(tuning.tile),
      passes_(std::move(passes)),
      rows_(context.rows()) {
  build_spans(context);
  std::vector<DataView> counts = columns.counts();
  for (const Column& column : columns_) {
    tables_.emplace_back();
    strides_.emplace_back();
    if (!column.view) continue;
    tables_.back() = context.sink().table(*column.view);
    if ((column.flags & column_strides) != 0) strides_.back() = context.sink().constant(strides_of(*column.view));
    if (const auto& count = column.view->count();
        count && std::find(counts.begin(), counts.end(), *count) == counts.end())
      counts.push_back(*count);
  }
  if (!counts.empty()) add_latch(context, counts);
}

void RowDomain::build_spans(const OperationContext& context) {
  std::vector<SpanView> views;
  bool uniform = true;
  for (const Column& column : columns_) {
    views.push_back({.view = column.view, .bits = column.bits});
    uniform = uniform && (column.flags & column_strides) == 0;
  }
  const SpanTable table = make_spans(rows_, views, operation_);
  spans_ = table.spans;
  choose_tiles(table, uniform);
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    const std::size_t place = 2 * column * spans_;
    first_rows_.push_back({table.placements[place], table.placements[place + 1]});
    if (spans_ == 1 && columns_[column].view) columns_[column].flags |= column_one_span;
  }

  const std::uint64_t tile_rows = tile_.tile_rows();
  std::vector<std::uint32_t> first_tile;
  std::vector<std::uint32_t> tile_span;
  std::uint64_t tiles = row_mode_ ? (rows_ + tile_rows - 1) / tile_rows : 0;
  if (!row_mode_)
    for (std::uint32_t span = 0; span < spans_; ++span)
      tiles += (table.first_row[span + 1] - table.first_row[span] + tile_rows - 1) / tile_rows;
  if (tiles > 0xffffffffU)
    context.reject(ErrorCode::limit_exceeded, {}, "takes at most 2^32 - 1 tiles of rows", std::to_string(tiles));
  tiles_ = static_cast<std::uint32_t>(tiles);
  if (row_mode_) {
    std::uint32_t span = 0;
    for (std::uint64_t tile = 0; tile <= tiles; ++tile) {
      while (span + 1 < spans_ && table.first_row[span + 1] <= tile * tile_rows) ++span;
      tile_span.push_back(tile == tiles ? spans_ : span);
    }
  } else if (spans_ > 1) {
    for (std::uint32_t span = 0; span < spans_; ++span) {
      const std::uint64_t rows = table.first_row[span + 1] - table.first_row[span];
      first_tile.push_back(static_cast<std::uint32_t>(tile_span.size()));
      tile_span.insert(tile_span.end(), (rows + tile_rows - 1) / tile_rows, span);
    }
  } else {
    first_tile.push_back(0);
  }
  tile_span_ = context.sink().constant(to_bytes(tile_span));
  first_tile_ = context.sink().constant(to_bytes(first_tile));
  first_row_ = context.sink().constant(to_bytes(table.first_row));
  placements_ = context.sink().constant(to_bytes(table.placements));
}

void RowDomain::choose_tiles(const SpanTable& table, bool uniform) {
  const std::uint64_t mean_span = rows_ / spans_;
  // Spans that begin at any row leave no wide access to lose, and a tile across them is never half empty.
  bool uneven = false;
  for (std::uint32_t span = 0; span < spans_ && !uneven; ++span) uneven = table.first_row[span] % 4 != 0;
  const bool short_spans = mean_span < tile_.tile_rows() / 2;
  row_mode_ = uniform && spans_ > 1 && (short_spans || (uneven && tuning_.tile_across_spans));
  if (row_mode_) {
    if (mean_span >= 256) tile_ = tuning_.tile_across_spans.value_or(tile_);
  } else if (spans_ == 1 && tuning_.shares != 0) {
    tile_ = share();
  } else if (tuning_.long_tile && mean_span / 4 >= tuning_.long_tile->tile_rows()) {
    tile_ = *tuning_.long_tile;
  }
  tile_.workgroup_size = std::min(tile_.workgroup_size, limits_.largest_workgroup_size);
}

TileShape RowDomain::share() const {
  const std::uint64_t turn = tuning_.tile.tile_rows();
  const std::uint64_t turns = (rows_ - 1) / (turn * tuning_.shares) + 1;
  return {.workgroup_size = tuning_.tile.workgroup_size,
          .rows_per_thread = static_cast<std::uint32_t>(turns * tuning_.tile.rows_per_thread)};
}

std::uint32_t RowDomain::groups(std::size_t pass) const {
  const RowPass& geometry = passes_.at(pass);
  const std::uint32_t groups = (tiles_ - 1) / geometry.tiles_per_group + 1;
  return std::min(groups, geometry.largest_groups);
}

void RowDomain::add_latch(const OperationContext& context, const std::vector<DataView>& counts) {
  NodeSink& sink = context.sink();
  LatchRecord record{};
  record.rows = rows_;
  record.spans = spans_;
  record.count_words = static_cast<std::uint32_t>(counts.size());
  record.tile_rows = tile_.tile_rows();
  record.row_mode = row_mode_ ? 1 : 0;
  record.dispatches = static_cast<std::uint32_t>(passes_.size());
  record.largest_group_count = limits_.largest_workgroup_count;
  record.indirect = sizeof(LatchedRows);
  for (std::size_t pass = 0; pass < passes_.size(); ++pass) {
    record.tiles_per_group[pass] = passes_[pass].tiles_per_group;
    record.largest_groups[pass] = passes_[pass].largest_groups;
  }
  const std::uint64_t bytes = sizeof(LatchedRows) + 12 * passes_.size();
  latched_ = sink.transient(bytes, "latched rows");

  Dispatch dispatch;
  dispatch.name = "latch rows";
  dispatch.module = "latch";
  dispatch.constants = {32};
  dispatch.gating = Gating::by_operation;
  dispatch.arguments = ArgumentRecord(record);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    sink.bind(dispatch, offsetof(LatchRecord, counts) + 8 * i, VectorView(counts[i]), Access::read);
  }
  if (const auto condition = sink.condition()) {
    sink.bind(dispatch, offsetof(LatchRecord, condition), VectorView(*condition), Access::read);
  }
  dispatch.arguments.relocate_transient(offsetof(LatchRecord, latched), *latched_);
  dispatch.arguments.relocate_transient(offsetof(LatchRecord, indirect), *latched_);
  dispatch.arguments.relocate(offsetof(LatchRecord, first_tile), first_tile_);
  dispatch.arguments.relocate(offsetof(LatchRecord, first_row), first_row_);
  dispatch.buffer_uses.push_back({*latched_, 0, bytes, Access::write});
  dispatch.workload = {.invocations = 32, .read_bytes = 4 * counts.size(), .write_bytes = bytes};
  sink.dispatch(std::move(dispatch));
}

void RowDomain::fill(RowsRecord& rows, ColumnRecord* columns) const {
  rows = {};
  rows.rows = rows_;
  rows.spans = spans_;
  rows.tiles = tiles_;
  rows.tile_rows = tile_.tile_rows();
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    columns[i] = {};
    if (!columns_[i].view) continue;
    columns[i].no_data = columns_[i].no_data.bits;
    columns[i].stride = static_cast<std::uint32_t>(columns_[i].view->chunk_list()->chunks.front().byte_stride);
    columns[i].scale = columns_[i].calibration.scale;
    columns[i].offset = columns_[i].calibration.offset;
    columns[i].first_chunk = first_rows_[i].chunk;
    columns[i].first_row = first_rows_[i].row;
  }
}

void RowDomain::relocate(ArgumentRecord& record, std::size_t rows_offset, std::size_t columns_offset) const {
  record.relocate(rows_offset + offsetof(RowsRecord, tile_span), tile_span_);
  record.relocate(rows_offset + offsetof(RowsRecord, first_tile), first_tile_);
  record.relocate(rows_offset + offsetof(RowsRecord, first_row), first_row_);
  record.relocate(rows_offset + offsetof(RowsRecord, placements), placements_);
  if (latched_) record.relocate_transient(rows_offset + offsetof(RowsRecord, latched), *latched_);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const std::size_t column = columns_offset + i * sizeof(ColumnRecord);
    if (tables_[i] && (columns_[i].flags & column_entries) != 0)
      record.relocate_entries(column + offsetof(ColumnRecord, slot), *tables_[i]);
    else if (tables_[i])
      record.relocate(column + offsetof(ColumnRecord, slot), *tables_[i]);
    if (strides_[i]) record.relocate(column + offsetof(ColumnRecord, strides), *strides_[i]);
  }
}

void RowDomain::use_latched(Dispatch& dispatch, std::size_t field_offset) const {
  if (!latched_) return;
  dispatch.arguments.relocate_transient(field_offset, *latched_);
  dispatch.buffer_uses.push_back({*latched_, 0, sizeof(LatchedRows), Access::read});
}

Dispatch RowDomain::dispatch(std::string_view name, std::string module, std::size_t pass,
                             const std::vector<std::uint32_t>& extra) const {
  Dispatch dispatch;
  dispatch.name = name;
  dispatch.module = std::move(module);
  const TileShape& compiled = tuning_.shares != 0 ? tuning_.tile : tile_;
  dispatch.constants = {tile_.workgroup_size, compiled.rows_per_thread, row_mode_ ? 1U : 0U,
                        static_cast<std::uint32_t>(tuning_.wide_access)};
  for (std::size_t i = 0; i < largest_column_count; ++i)
    dispatch.constants.push_back(i < columns_.size() ? columns_[i].flags : 0U);
  dispatch.constants.insert(dispatch.constants.end(), extra.begin(), extra.end());
  dispatch.groups = fold_workgroups(groups(pass), limits_, operation_);
  if (latched_) {
    const std::uint64_t offset = sizeof(LatchedRows) + 12 * pass;
    dispatch.indirect = latched_->view(Format::uint32, 3, {.byte_offset = offset});
    dispatch.buffer_uses.push_back({*latched_, 0, sizeof(LatchedRows), Access::read});
  }
  for (const Column& column : columns_) {
    if (!column.view) continue;
    const VectorView& view = *column.view;
    const std::uint64_t units = column.bits ? view.length() : rows_;  // of the view: bytes where a row is a bit
    dispatch.view_uses.push_back({VectorView(view.chunk_list(), view.first_row(), units, std::nullopt), column.access});
    const std::uint64_t bytes = units * size_of(view.format());
    if (column.access != Access::write) dispatch.workload.read_bytes += bytes;
    if (column.access != Access::read) dispatch.workload.write_bytes += bytes;
  }
  dispatch.workload.invocations = std::uint64_t{groups(pass)} * tile_.workgroup_size;
  dispatch.note = std::to_string(spans_) + (spans_ == 1 ? " span" : " spans") + (row_mode_ ? ", row mode" : "");
  return dispatch;
}

}  // namespace tessera::detail
