#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

namespace tessera::detail {

/// Values over disjoint half-open ranges; what was never written has no value.
template <class Value>
class RangeMap {
 public:
  /// Calls `visit(const Value&)` for each stored range that overlaps `[begin, end)`.
  template <class Visit>
  void visit(std::uint64_t begin, std::uint64_t end, Visit&& visit) const {
    auto it = ranges_.upper_bound(begin);
    if (it != ranges_.begin() && std::prev(it)->second.end > begin) --it;
    for (; it != ranges_.end() && it->first < end; ++it) visit(it->second.value);
  }

  /// Replaces what `[begin, end)` holds by one value.
  void assign(std::uint64_t begin, std::uint64_t end, Value value) {
    split(begin);
    split(end);
    ranges_.erase(ranges_.lower_bound(begin), ranges_.lower_bound(end));
    ranges_.emplace(begin, Range{end, std::move(value)});
  }

  /// Calls `change(Value&)` for each part of `[begin, end)`; parts without a value get a default one first.
  template <class Change>
  void update(std::uint64_t begin, std::uint64_t end, Change&& change) {
    split(begin);
    split(end);
    std::uint64_t at = begin;
    for (auto it = ranges_.lower_bound(begin); at < end; ++it) {
      const std::uint64_t gap_end = it == ranges_.end() || it->first >= end ? end : it->first;
      if (at < gap_end) it = ranges_.emplace_hint(it, at, Range{gap_end, Value{}});
      change(it->second.value);
      at = it->second.end;
    }
  }

 private:
  struct Range {
    std::uint64_t end;
    Value value;
  };

  void split(std::uint64_t at) {
    auto it = ranges_.lower_bound(at);
    if (it == ranges_.begin()) return;
    --it;
    if (it->second.end <= at) return;
    Range tail{it->second.end, it->second.value};
    it->second.end = at;
    ranges_.emplace_hint(std::next(it), at, std::move(tail));
  }

  std::map<std::uint64_t, Range> ranges_;
};

}  // namespace tessera::detail
