#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ops/histogram_fixture.hpp"
#include "support/partitions.hpp"
#include "support/random_data.hpp"

namespace tessera::test {
namespace {

constexpr std::uint32_t bin_counts[] = {1, 16, 17, 256, 257, 300, 5000, 65536};
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

class HistogramTest : public HistogramFixture {};

template <class T>
class HistogramOf : public HistogramFixture {};
using RowTypes = ::testing::Types<std::uint32_t, std::int32_t, float>;
TYPED_TEST_SUITE(HistogramOf, RowTypes);

template <class T>
Counts expected(const std::vector<T>& values, T low, T high, std::uint32_t bins, const reference::Rows& rows = {}) {
  return reference::histogram<T>(std::span<const T>(values), low, high, bins, rows);
}
template <class T>
Counts expected(const std::vector<T>& values, const std::vector<T>& edges, const reference::Rows& rows = {}) {
  return reference::histogram<T>(std::span<const T>(values), std::span<const T>(edges), rows);
}

// Bounds that most of the moderate values lie between.
template <class T>
T moderate_low() {
  return std::is_signed_v<T> ? static_cast<T>(-300) : static_cast<T>(100);
}
template <class T>
T moderate_high() {
  return static_cast<T>(900);
}

// Distinct finite values in order.
template <class T>
std::vector<T> increasing(std::size_t count, std::uint64_t seed) {
  std::vector<T> values = random_values<T>(2 * count + 64, seed, Spread::finite);
  for (T& value : values)
    if (value == T{0}) value = T{0};  // one zero
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  values.resize(count);
  return values;
}

// The examples of the page docs/operations/aggregation.md.
TEST_F(HistogramTest, GivesTheDocumentedExamples) {
  using U = std::vector<std::uint32_t>;
  EXPECT_EQ(run_histogram(vector_of(U{9, 10, 19, 20, 29, 30, 39, 40, 49, 50, 51}), 4, Histogram::Domain{10, 50}),
            (Counts{2, 2, 2, 3}));
  EXPECT_EQ(run_histogram(vector_of(U{0, 1, 2, 3, 4, 5, 6, 7}), 3, Histogram::Domain{0, 7}), (Counts{3, 2, 3}));
  EXPECT_EQ(
      run_histogram(vector_of(std::vector<float>{0, 0.2F, 0.25F, 0.74F, 0.75F, 1, 1.5F}), 4, Histogram::Domain{0, 1}),
      (Counts{2, 1, 1, 2}));
  EXPECT_EQ(run_histogram(vector_of(std::vector<float>{-0.1F, 0, 1.9F, 2, 2.49F, 2.5F, 7.9F, 8, 8.1F}), 3,
                          Histogram::Edges{{0, 2, 2.5, 8}}),
            (Counts{2, 2, 3}));
}

TEST_F(HistogramTest, TakesTheAutomaticDomainFromRowsThatTheMaskLeavesOut) {
  const Vector values = vector_of(std::vector<std::uint32_t>{2, 4, 10, 6});
  const Vector domain = pair_of<std::uint32_t>(77, 77);
  const Counts counts = run_with(values, 4, Histogram::AutomaticDomain{}, [&](Histogram& histogram) {
    histogram.mask = vector_of(std::vector<std::uint32_t>{1, 1, 0, 1});
    histogram.domain_output = domain;
  });
  EXPECT_EQ(counts, (Counts{1, 1, 1, 0}));
  EXPECT_EQ(download<std::uint32_t>(domain.chunks()[0].buffer, 0, 2), (std::vector<std::uint32_t>{2, 10}));
}

TYPED_TEST(HistogramOf, CountsEveryKindOfDomain) {
  using T = TypeParam;
  const std::vector<T> values = random_values<T>(30000, 11, Spread::with_special);
  const Vector rows = this->vector_of(values);
  const T low = moderate_low<T>();
  const T high = moderate_high<T>();
  for (const std::uint32_t bins : bin_counts) {
    SCOPED_TRACE(bins);
    const Counts counts = expected(values, low, high, bins);
    const Histogram::Domain literal{static_cast<double>(low), static_cast<double>(high)};
    EXPECT_EQ(this->run_histogram(rows, bins, literal), counts);
    EXPECT_EQ(this->template run_histogram<std::uint64_t>(rows, bins, literal), counts);
    EXPECT_EQ(this->run_histogram(rows, bins, Histogram::ResidentDomain{this->pair_of(low, high)}), counts);
    const auto extent = reference::automatic_domain<T>(values);
    EXPECT_EQ(this->run_histogram(rows, bins, Histogram::AutomaticDomain{}),
              expected(values, extent[0], extent[1], bins));
  }
}

TYPED_TEST(HistogramOf, CountsBetweenEdges) {
  using T = TypeParam;
  for (const std::uint32_t bins : bin_counts) {
    SCOPED_TRACE(bins);
    const std::vector<T> edges = increasing<T>(std::size_t{bins} + 1, bins);
    std::vector<T> values = random_values<T>(20000, bins + 1, Spread::all_bits);
    values.insert(values.end(), edges.begin(), edges.end());
    const Vector rows = this->vector_of(values);
    const Counts counts = expected(values, edges);
    EXPECT_EQ(this->run_histogram(rows, bins, Histogram::Edges{std::vector<double>(edges.begin(), edges.end())}),
              counts);
    EXPECT_EQ(this->run_histogram(rows, bins, Histogram::ResidentEdges{this->vector_of(edges)}), counts);
  }
}

// Integers over their whole range; more bins than 2^19 take the division.
TYPED_TEST(HistogramOf, CountsFullRangeIntegersExactly) {
  using T = TypeParam;
  if constexpr (std::is_integral_v<T>) {
    std::vector<T> values = random_values<T>(50000, 5, Spread::all_bits);
    for (const T value : special_values<T>()) values.push_back(value);
    const T low = std::numeric_limits<T>::min();
    const T high = std::numeric_limits<T>::max();
    for (const std::uint32_t bins : {300U, 65536U, 524288U, 700001U}) {
      SCOPED_TRACE(bins);
      // Values at the borders and beside them.
      std::vector<T> all = values;
      for (std::uint64_t k = 0; k <= bins; k += bins / 97) {
        const std::uint64_t border = k * 0xffffffffULL / bins;
        for (const std::uint64_t beside : {border - 1, border, border + 1})
          all.push_back(static_cast<T>(static_cast<std::uint32_t>(beside) + static_cast<std::uint32_t>(low)));
      }
      const Histogram::Domain domain{static_cast<double>(low), static_cast<double>(high)};
      EXPECT_EQ(this->run_histogram(this->vector_of(all), bins, domain), expected(all, low, high, bins));
    }
  }
}

// A value that is an edge, and its neighbours, over domains of every size.
TEST_F(HistogramTest, DecidesValuesAtEdges) {
  RandomBits random(2024);
  for (int round = 0; round < 24; ++round) {
    const std::vector<float> bounds = increasing<float>(40, random.next());
    const bool narrow = round % 3 == 0;  // bins narrower than the spacing of floats
    const float low = narrow ? 1.0e6F + static_cast<float>(round) : bounds[random.below(20)];
    const float high = narrow ? low + 1 : bounds[20 + random.below(20)];
    const auto bins = static_cast<std::uint32_t>(1 + random.below(round % 4 == 0 ? 70000 : 400));
    SCOPED_TRACE("round " + std::to_string(round) + ": " + std::to_string(low) + " " + std::to_string(high) + " " +
                 std::to_string(bins));
    std::vector<float> values;
    const std::vector<float> edges = reference::uniform_edges(low, high, bins);
    for (std::size_t k = 0; k < edges.size(); k += 1 + edges.size() / 3000)
      for (const float value : {std::nextafter(edges[k], -infinity), edges[k], std::nextafter(edges[k], infinity)})
        values.push_back(value);
    const Counts counts = expected(values, low, high, bins);
    EXPECT_EQ(run_histogram(vector_of(values), bins, Histogram::Domain{low, high}), counts);
    EXPECT_EQ(run_histogram(vector_of(values), bins, Histogram::ResidentDomain{pair_of(low, high)}), counts);
  }
}

TEST_F(HistogramTest, LeavesOutSpecialFloats) {
  std::vector<float> values = special_values<float>();
  values.insert(values.end(), {-infinity, infinity, not_a_number, -not_a_number, -0.0F, 0.0F, 1.0F});
  const Vector rows = vector_of(values);
  const float largest = std::numeric_limits<float>::max();
  const float denormal = std::numeric_limits<float>::denorm_min();
  const float domains[][2] = {{0.0F, 1.0F},          {-0.0F, 1.0F},        {-1.0F, -0.0F},  {-largest, largest},
                              {-denormal, denormal}, {0.0F, 4 * denormal}, {denormal, 1.0F}};
  for (const auto& domain : domains) {
    for (const std::uint32_t bins : {1U, 2U, 7U, 300U}) {
      SCOPED_TRACE(std::to_string(domain[0]) + " " + std::to_string(domain[1]) + " " + std::to_string(bins));
      const Counts counts = expected(values, domain[0], domain[1], bins);
      EXPECT_EQ(run_histogram(rows, bins, Histogram::Domain{domain[0], domain[1]}), counts);
      EXPECT_EQ(run_histogram(rows, bins, Histogram::ResidentDomain{pair_of(domain[0], domain[1])}), counts);
    }
  }
  const Counts nothing(3, 0);
  EXPECT_EQ(run_histogram(vector_of(std::vector<float>{not_a_number, infinity}), 3, Histogram::AutomaticDomain{}),
            nothing);
}

TYPED_TEST(HistogramOf, CountsDegenerateDomains) {
  using T = TypeParam;
  const std::vector<T> values{T{7}, T{7}, T{8}, T{6}, T{7}};
  const Vector rows = this->vector_of(values);
  EXPECT_EQ(this->run_histogram(rows, 3, Histogram::Domain{7, 7}), (Counts{3, 0, 0}));
  EXPECT_EQ(this->run_histogram(rows, 3, Histogram::ResidentDomain{this->pair_of(T{7}, T{7})}), (Counts{3, 0, 0}));
  EXPECT_EQ(this->run_histogram(rows, 3, Histogram::ResidentDomain{this->pair_of(T{8}, T{7})}), (Counts{0, 0, 0}));
  const Vector same = this->vector_of(std::vector<T>{T{7}, T{7}, T{7}});
  EXPECT_EQ(this->run_histogram(same, 3, Histogram::AutomaticDomain{}), (Counts{3, 0, 0}));
}

TEST_F(HistogramTest, CountsNothingInInvalidResidentBins) {
  const Vector rows = vector_of(std::vector<float>{1, 2, 3});
  for (const auto& [low, high] :
       {std::pair{not_a_number, 4.0F}, {0.0F, not_a_number}, {0.0F, infinity}, {-infinity, 4.0F}})
    EXPECT_EQ(run_histogram(rows, 2, Histogram::ResidentDomain{pair_of(low, high)}), (Counts{0, 0}));
  const std::vector<std::vector<float>> lists{{0, 2, 2},        {0, 3, 2},         {0, not_a_number, 4},
                                              {0, 2, infinity}, {-infinity, 2, 4}, {-0.0F, 0.0F, 4}};
  for (const auto& edges : lists)
    EXPECT_EQ(run_histogram(rows, 2, Histogram::ResidentEdges{vector_of(edges)}), (Counts{0, 0}));
  const Vector integers = vector_of(std::vector<std::int32_t>{1, 2, 3});
  EXPECT_EQ(run_histogram(integers, 2, Histogram::ResidentEdges{vector_of(std::vector<std::int32_t>{-5, -5, 4})}),
            (Counts{0, 0}));
}

TEST_F(HistogramTest, TakesEdgesWithExponents) {
  const std::vector<float> edges{-3.0e38F, -1.0e-30F, 0.0F, 1.0e-45F, 1.0e-38F, 1.0e-7F, 1.0F, 16777216.0F, 3.0e38F};
  std::vector<float> values;
  for (const float edge : edges)
    for (const float value : {std::nextafter(edge, -infinity), edge, std::nextafter(edge, infinity)})
      values.push_back(value);
  const Counts counts = expected(values, edges);
  EXPECT_EQ(run_histogram(vector_of(values), 8, Histogram::Edges{std::vector<double>(edges.begin(), edges.end())}),
            counts);
  EXPECT_EQ(run_histogram(vector_of(values), 8, Histogram::ResidentEdges{vector_of(edges)}), counts);
}

TYPED_TEST(HistogramOf, TakesTheSameCountsFromEveryPartition) {
  using T = TypeParam;
  const std::size_t count = 20011;
  const std::vector<T> values = random_values<T>(count, 3, Spread::with_special);
  const std::vector<std::uint32_t> mask = random_mask(count, 4);
  const T low = moderate_low<T>();
  const T high = moderate_high<T>();
  const Counts counts = expected(values, low, high, 300, {.mask = mask});
  const Counts many = expected(values, low, high, 40000, {.mask = mask});
  const std::vector<Partition> partitions = standard_partitions(count, 9);
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    const Partition& of_mask = partitions[(i + 1) % partitions.size()];
    SCOPED_TRACE(partitions[i].name + ", mask " + of_mask.name);
    const Vector rows = this->upload_rows(values, partitions[i]);
    const auto fill = [&](Histogram& histogram) { histogram.mask = this->upload_rows(mask, of_mask); };
    const Histogram::Domain domain{static_cast<double>(low), static_cast<double>(high)};
    EXPECT_EQ(this->run_with(rows, 300, domain, fill), counts);
    if (i % 3 == 0) {
      EXPECT_EQ(this->run_with(rows, 40000, domain, fill), many);
    }
  }
}

TYPED_TEST(HistogramOf, ReadsInterleavedRows) {
  using T = TypeParam;
  const std::vector<T> pairs = random_values<T>(6001, 21, Spread::moderate);
  std::vector<T> values;
  for (std::size_t i = 1; i < pairs.size(); i += 2) values.push_back(pairs[i]);
  const Vector packed = this->vector_of(pairs);
  const Vector strided(format_of<T>, {Chunk{packed.chunks()[0].buffer, 4, values.size(), 8}});
  const auto extent = reference::automatic_domain<T>(values);
  EXPECT_EQ(this->run_histogram(strided, 300, Histogram::AutomaticDomain{}),
            expected(values, extent[0], extent[1], 300));
  const Histogram::Domain domain{static_cast<double>(extent[0]), static_cast<double>(extent[1])};
  EXPECT_EQ(this->run_histogram(strided, 17, domain), expected(values, extent[0], extent[1], 17));
}

// Rows whose bins are almost all one, and rows that alternate between two.
TEST_F(HistogramTest, CountsConstantAndAlternatingRows) {
  std::vector<float> values(100000, 0.5F);
  for (std::size_t i = 0; i < values.size() / 2; ++i) values[i] = i % 2 == 0 ? 0.25F : 0.75F;
  const Vector rows = vector_of(values);
  for (const std::uint32_t bins : {1U, 3U, 256U, 5000U, 20000U})
    EXPECT_EQ(run_histogram(rows, bins, Histogram::Domain{0, 1}), expected(values, 0.0F, 1.0F, bins)) << bins;
}

// Every axis that a kernel loops over is longer than a driver's silent limit of 65,535 turns.
TEST_F(HistogramTest, CountsLongInputs) {
  const std::size_t count = 6'000'003;
  std::vector<std::uint32_t> values(count);
  RandomBits random(8);
  for (std::uint32_t& value : values) value = static_cast<std::uint32_t>(random.next());
  const Vector rows = upload_rows(values, {"uneven", {1, 4'000'000, 0, 2'000'002}});
  const std::uint32_t high = std::numeric_limits<std::uint32_t>::max();
  EXPECT_EQ(run_histogram(rows, 100, Histogram::Domain{0, 4294967295.0}), expected(values, 0U, high, 100));
  EXPECT_EQ(run_histogram(rows, 200000, Histogram::Domain{0, 4294967295.0}), expected(values, 0U, high, 200000));
}

TEST_F(HistogramTest, SumOfBinsIsTheNumberOfAcceptedRows) {
  const std::vector<float> values = random_values<float>(50000, 31, Spread::all_bits);
  const std::vector<std::uint32_t> mask = random_mask(values.size(), 32, 0.5);
  std::uint64_t accepted = 0;
  for (std::size_t i = 0; i < values.size(); ++i) accepted += mask[i] != 0 && std::isfinite(values[i]) ? 1 : 0;
  const Counts counts = run_with(vector_of(values), 4096, Histogram::AutomaticDomain{},
                                 [&](Histogram& histogram) { histogram.mask = vector_of(mask); });
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}), accepted);
}

TEST_F(HistogramTest, ClearsTheOutputWithoutRows) {
  const Vector none(Format::float32, {});
  const Vector domain = pair_of(5.0F, 6.0F);
  const Vector overflow = vector_of(std::vector<std::uint32_t>{guard_word});
  for (const Histogram::Binning& binning :
       {Histogram::Binning(Histogram::Domain{0, 1}), Histogram::Binning(Histogram::ResidentDomain{pair_of(0.0F, 1.0F)}),
        Histogram::Binning(Histogram::Edges{{0, 1, 2, 3}}), Histogram::Binning(Histogram::AutomaticDomain{})}) {
    const Counts counts = run_with(none, 3, binning, [&](Histogram& histogram) {
      histogram.overflow = overflow;
      if (std::holds_alternative<Histogram::AutomaticDomain>(binning)) histogram.domain_output = domain;
    });
    EXPECT_EQ(counts, (Counts{0, 0, 0}));
  }
  EXPECT_EQ(download<float>(domain.chunks()[0].buffer, 0, 2), (std::vector<float>{0, 0}));
  EXPECT_EQ(download<std::uint32_t>(overflow.chunks()[0].buffer, 0, 1), (std::vector<std::uint32_t>{0}));
}

TEST_F(HistogramTest, WritesNoOverflowWhereNothingWraps) {
  const Vector overflow = vector_of(std::vector<std::uint32_t>{guard_word});
  run_with(vector_of(std::vector<float>(1000, 0.5F)), 2, Histogram::Domain{0, 1},
           [&](Histogram& histogram) { histogram.overflow = overflow; });
  EXPECT_EQ(download<std::uint32_t>(overflow.chunks()[0].buffer, 0, 1), (std::vector<std::uint32_t>{0}));
}

// 257 times one chunk of 2^24 rows: more than a uint32 counts. Takes minutes on a CPU.
TEST_F(HistogramTest, CountsBeyondThirtyTwoBits) {
  if (device().info().type == DeviceType::cpu) GTEST_SKIP() << "too long on a CPU-type device";
  const Vector piece = vector_of(std::vector<std::uint8_t>(1U << 24, std::uint8_t{9}));
  const Vector rows(Format::uint8, std::vector<Chunk>(257, piece.chunks()[0]));
  const Vector overflow = vector_of(std::vector<std::uint32_t>{guard_word});
  for (const std::uint64_t bins : {10U, 20000U}) {
    const Histogram::Domain domain{9, 30000};
    Counts counts(bins, 0);
    counts[0] = std::uint64_t{257} << 24;
    EXPECT_EQ(run_histogram<std::uint64_t>(rows, bins, domain), counts);
    counts[0] = 1U << 24;
    EXPECT_EQ(run_with(rows, bins, domain, [&](Histogram& histogram) { histogram.overflow = overflow; }), counts);
    EXPECT_EQ(download<std::uint32_t>(overflow.chunks()[0].buffer, 0, 1), (std::vector<std::uint32_t>{1}));
  }
}

// Random shapes of everything at once; the seed of a failure is printed.
TEST_F(HistogramTest, AgreesWithTheReferenceOnRandomInputs) {
  for (std::uint64_t seed = 100; seed < 130; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomBits random(seed);
    const std::size_t count = random.below(5000);
    const std::vector<float> values =
        random_values<float>(count, seed, random.below(2) == 0 ? Spread::all_bits : Spread::moderate);
    const std::vector<std::uint32_t> mask = random_mask(count, seed + 1, random.fraction());
    const std::vector<float> bounds = increasing<float>(2, seed);
    const auto bins = static_cast<std::uint32_t>(1 + random.below(random.below(3) == 0 ? 30000 : 600));
    const Vector rows = upload_rows(values, reference::random_partition(count, 1 + random.below(40), seed));
    const auto fill = [&](Histogram& histogram) {
      histogram.mask = upload_rows(mask, reference::random_partition(count, 1 + random.below(9), seed + 2));
    };
    const Counts counts = expected(values, bounds[0], bounds[1], bins, {.mask = mask});
    EXPECT_EQ(run_with(rows, bins, Histogram::Domain{bounds[0], bounds[1]}, fill), counts);
    EXPECT_EQ(run_with<std::uint64_t>(rows, bins, Histogram::ResidentDomain{pair_of(bounds[0], bounds[1])}, fill),
              counts);
  }
}

}  // namespace
}  // namespace tessera::test
