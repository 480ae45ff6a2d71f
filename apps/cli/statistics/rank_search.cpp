#include "statistics/rank_search.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "run.hpp"

namespace tessera::cli {

std::vector<Percentile> parse_percentiles(const std::string& list) {
  std::vector<Percentile> percentiles;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string text = list.substr(begin, end - begin);
    double percent = 0;
    const auto [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), percent);
    if (failure != std::errc() || rest != text.data() + text.size() || !(percent >= 0.0 && percent <= 100.0))
      throw UsageError{fmt::format("--percentiles: numbers from 0 to 100, separated by commas: '{}'", list)};
    if (std::ranges::find(percentiles, text, &Percentile::text) != percentiles.end())
      throw UsageError{fmt::format("--percentiles: {} is named twice", text)};
    percentiles.push_back({text, percent});
    begin = end + 1;
  }
  return percentiles;
}

PercentilePlace place_of(double percent, std::uint64_t count) noexcept {
  const auto last = static_cast<long double>(count - 1);
  const long double place = last * (static_cast<long double>(percent) / 100.0L);
  const long double lower = std::floor(place);
  PercentilePlace result{.lower = static_cast<std::uint64_t>(lower)};
  result.fraction = static_cast<double>(place - lower);
  result.upper = std::min(result.lower + 1, count - 1);
  return result;
}

double between(double lower, double upper, double fraction) noexcept {
  const double difference = upper - lower;
  return fraction < 0.5 ? lower + difference * fraction : upper - difference * (1.0 - fraction);
}

RankSearch::RankSearch(unsigned key_bits, std::vector<std::uint64_t> ranks) : key_bits_(key_bits) {
  std::ranges::sort(ranks);
  const auto repeated = std::ranges::unique(ranks);
  ranks.erase(repeated.begin(), repeated.end());
  if (!ranks.empty()) open_.emplace(0, Open{.before = 0, .ranks = std::move(ranks)});
}

std::vector<std::uint64_t> RankSearch::prefixes() const {
  std::vector<std::uint64_t> list;
  for (const auto& [prefix, open] : open_) list.push_back(prefix);
  return list;
}

void RankSearch::narrow(std::span<const std::vector<std::uint64_t>> counts) {
  std::map<std::uint64_t, Open> narrowed;
  std::size_t index = 0;
  for (const auto& [prefix, open] : open_) {
    const std::vector<std::uint64_t>& bins_of_prefix = counts[index++];
    std::uint64_t before = open.before;
    std::size_t next = 0;
    for (std::uint64_t bin = 0; bin < bins_of_prefix.size() && next < open.ranks.size(); ++bin) {
      const std::uint64_t behind = before + bins_of_prefix[bin];
      for (; next < open.ranks.size() && open.ranks[next] < behind; ++next) {
        Open& entry = narrowed[prefix << 16 | bin];
        entry.before = before;
        entry.ranks.push_back(open.ranks[next]);
      }
      before = behind;
    }
  }
  known_bits_ += 16;
  if (known_bits_ == key_bits_) {
    for (const auto& [key, open] : narrowed)
      for (const std::uint64_t rank : open.ranks) keys_[rank] = key;
    narrowed.clear();
  }
  open_ = std::move(narrowed);
}

}  // namespace tessera::cli
