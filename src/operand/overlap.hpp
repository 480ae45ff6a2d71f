#pragma once

#include <tessera/graph/views.hpp>

// Which memory views share, by occupied bytes.
namespace tessera::detail {

/// Whether two views of one graph share a byte. Rows interleaved at one stride (columns of a record) do not.
bool overlaps(const VectorView& left, const VectorView& right);
/// Whether chunks of one view share a byte.
bool overlaps_itself(const VectorView& view);
/// Whether two views are exactly the same rows in the same places, so that row `i` of one is row `i` of the other.
bool same_rows(const VectorView& left, const VectorView& right);

}  // namespace tessera::detail
