#include <tessera/operand/source.hpp>

namespace tessera {
namespace {

Format format_of_rows(const Rows& rows) noexcept {
  return std::visit([](const auto& alternative) { return alternative.format(); }, rows);
}
std::uint64_t length_of_rows(const Rows& rows) noexcept {
  return std::visit([](const auto& alternative) { return alternative.length(); }, rows);
}

}  // namespace

Source Source::with_validity(Validity validity) const {
  Source result = as_observations();
  result.validity_ = std::move(validity);
  return result;
}

Source Source::with_no_data(RawNoData no_data) const {
  Source result = as_observations();
  result.no_data_ = no_data;
  return result;
}

Source Source::with_calibration(Calibration calibration) const {
  Source result = as_observations();
  result.calibration_ = calibration;
  return result;
}

Source Source::as_observations() const {
  Source result = *this;
  result.observations_ = true;
  return result;
}

Format Source::format() const noexcept { return format_of_rows(rows_); }
std::uint64_t Source::length() const noexcept { return length_of_rows(rows_); }
Format Target::format() const noexcept { return format_of_rows(rows_); }
std::uint64_t Target::length() const noexcept { return length_of_rows(rows_); }

}  // namespace tessera
