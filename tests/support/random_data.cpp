#include "support/random_data.hpp"

#include <bit>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <type_traits>

namespace tessera::test {
namespace {

std::vector<float> special_floats() {
  std::vector<float> result;
  for (const std::uint32_t bits : {
           0x00000000U, 0x00000001U, 0x00000002U, 0x007fffffU, 0x00800000U, 0x00800001U,  // zero to smallest normal
           0x33800000U, 0x34000000U, 0x3f7fffffU, 0x3f800000U, 0x3f800001U, 0x40490fdbU,  // around one
           0x4b7fffffU, 0x4b800000U, 0x4b800001U, 0x4f000000U, 0x4f800000U,               // 2^24, 2^31, 2^32
           0x7f7ffffeU, 0x7f7fffffU, 0x7f800000U, 0x7f800001U, 0x7fbfffffU, 0x7fc00000U, 0x7fc12345U, 0x7fffffffU,
       }) {
    result.push_back(std::bit_cast<float>(bits));
    result.push_back(std::bit_cast<float>(bits | 0x80000000U));
  }
  return result;
}

std::vector<double> special_doubles() {
  std::vector<double> result;
  for (const std::uint64_t bits : std::initializer_list<std::uint64_t>{
           0x0000000000000000U, 0x0000000000000001U, 0x000fffffffffffffU, 0x0010000000000000U, 0x3690000000000000U,
           0x36a0000000000000U, 0x3fefffffffffffffU, 0x3ff0000000000000U, 0x3ff0000000000001U, 0x433fffffffffffffU,
           0x4340000000000000U, 0x43f0000000000000U, 0x47efffffe0000000U, 0x47effffff0000000U, 0x7fefffffffffffffU,
           0x7ff0000000000000U, 0x7ff0000000000001U, 0x7ff8000000000000U, 0x7fffffffffffffffU,
       }) {
    result.push_back(std::bit_cast<double>(bits));
    result.push_back(std::bit_cast<double>(bits | 0x8000000000000000U));
  }
  return result;
}

template <class T>
std::vector<T> special_integers() {
  constexpr T lowest = std::numeric_limits<T>::min();
  constexpr T highest = std::numeric_limits<T>::max();
  std::vector<T> result = {lowest, static_cast<T>(lowest + 1), 0, 1, 2, static_cast<T>(highest - 1), highest};
  if constexpr (std::is_signed_v<T>) result.push_back(-1);
  for (const int bit : {7, 8, 15, 16, 24, 31, 32, 53, 63}) {
    if (bit >= std::numeric_limits<T>::digits) break;
    const auto power = static_cast<T>(std::uint64_t{1} << bit);
    for (const T value : {static_cast<T>(power - 1), power, static_cast<T>(power + 1)}) result.push_back(value);
  }
  return result;
}

template <class T>
bool is_finite(T value) {
  if constexpr (std::is_floating_point_v<T>) return std::isfinite(value);
  return true;
}

template <class T>
T from_bits(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(bits);
  } else {
    return static_cast<T>(bits);
  }
}

template <class T>
T moderate_value(RandomBits& random) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(random.fraction() * 2000 - 1000);
  } else {
    const std::uint64_t range = sizeof(T) == 1 ? 200 : 1000;
    const auto value = static_cast<std::int64_t>(random.below(range));
    return static_cast<T>(std::is_signed_v<T> ? value - static_cast<std::int64_t>(range / 2) : value);
  }
}

}  // namespace

template <class T>
std::vector<T> special_values() {
  if constexpr (std::is_same_v<T, float>) {
    return special_floats();
  } else if constexpr (std::is_same_v<T, double>) {
    return special_doubles();
  } else {
    return special_integers<T>();
  }
}

template <class T>
std::vector<T> finite_special_values() {
  std::vector<T> result;
  for (const T value : special_values<T>()) {
    if (is_finite(value)) result.push_back(value);
  }
  return result;
}

template <class T>
std::vector<T> random_values(std::size_t count, std::uint64_t seed, Spread spread) {
  RandomBits random(seed);
  const std::vector<T> special = special_values<T>();
  std::vector<T> result(count);
  for (T& value : result) {
    switch (spread) {
      case Spread::all_bits:
        value = from_bits<T>(random.next());
        break;
      case Spread::finite:
        do {
          value = from_bits<T>(random.next());
        } while (!is_finite(value));
        break;
      case Spread::moderate:
        value = moderate_value<T>(random);
        break;
      case Spread::with_special:
        value = random.below(8) == 0 ? special[random.below(special.size())] : moderate_value<T>(random);
        break;
    }
  }
  return result;
}

std::vector<std::uint32_t> random_mask(std::size_t count, std::uint64_t seed, double accepted_share) {
  RandomBits random(seed);
  constexpr std::uint32_t words[] = {1, 1, 1, 2, 255, 0x80000000, 0xffffffff};
  std::vector<std::uint32_t> result(count);
  for (std::uint32_t& word : result) {
    word = random.fraction() < accepted_share ? words[random.below(std::size(words))] : 0;
  }
  return result;
}

#define TESSERA_INSTANTIATE(T)                        \
  template std::vector<T> special_values<T>();        \
  template std::vector<T> finite_special_values<T>(); \
  template std::vector<T> random_values<T>(std::size_t, std::uint64_t, Spread);
TESSERA_INSTANTIATE(std::uint8_t)
TESSERA_INSTANTIATE(std::int8_t)
TESSERA_INSTANTIATE(std::uint16_t)
TESSERA_INSTANTIATE(std::int16_t)
TESSERA_INSTANTIATE(std::uint32_t)
TESSERA_INSTANTIATE(std::int32_t)
TESSERA_INSTANTIATE(std::uint64_t)
TESSERA_INSTANTIATE(std::int64_t)
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::test
