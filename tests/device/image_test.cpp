#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/interop/vulkan.hpp>

#include "device/internal.hpp"
#include "support/device_fixture.hpp"

namespace tessera::test {
namespace {

constexpr ImageUsage every_transfer = ImageUsage::copy_source | ImageUsage::copy_target;

class Images : public DeviceFixture {
 protected:
  static ImageDescription described(ImageFormat format, std::uint32_t width, std::uint32_t height,
                                    ImageUsage usage = every_transfer) {
    return {.format = format, .width = width, .height = height, .usage = usage};
  }
  /// Words 0, 1, 2, ... for all components of all texels.
  static std::vector<std::uint32_t> counted_words(std::uint64_t bytes, std::uint32_t first = 0) {
    std::vector<std::uint32_t> words(bytes / 4);
    std::iota(words.begin(), words.end(), first);
    return words;
  }
  static void write(const Image& image, const std::vector<std::uint32_t>& words,
                    const std::optional<ImageRegion>& region = {}) {
    image.device().write(image, std::as_bytes(std::span(words)), region);
  }
  static std::vector<std::uint32_t> read(const Image& image, const std::optional<ImageRegion>& region = {}) {
    const std::uint64_t texels =
        region ? std::uint64_t{region->width} * region->height : std::uint64_t{image.width()} * image.height();
    std::vector<std::uint32_t> words(texels * size_of(image.format()) / 4);
    image.device().read(image, std::as_writable_bytes(std::span(words)), region);
    return words;
  }
};

TEST_F(Images, TellWhatTheyAre) {
  const Image image = device().create_image(
      described(ImageFormat::rgba32_sint, 7, 3, ImageUsage::sampled | ImageUsage::copy_target), "labels");
  EXPECT_TRUE(image);
  EXPECT_EQ(image.width(), 7U);
  EXPECT_EQ(image.height(), 3U);
  EXPECT_EQ(image.bytes(), 7U * 3U * 16U);
  EXPECT_EQ(image.format(), ImageFormat::rgba32_sint);
  EXPECT_EQ(name_of(image.format()), "rgba32_sint");
  EXPECT_EQ(component_of(image.format()), ImageComponent::signed_integer);
  EXPECT_EQ(names_of(image.usage()), "sampled, copy_target");
  EXPECT_EQ(image.name(), "labels");
  EXPECT_EQ(image.device(), device());
  EXPECT_FALSE(Image());
}

TEST_F(Images, KeepTexelsOfEveryFormat) {
  for (const ImageFormat format : {ImageFormat::r32_float, ImageFormat::r32_uint, ImageFormat::r32_sint,
                                   ImageFormat::rgba32_float, ImageFormat::rgba32_uint, ImageFormat::rgba32_sint}) {
    SCOPED_TRACE(name_of(format));
    const Image image = device().create_image(described(format, 13, 9));
    // Ordinary numbers in every format: 1.0f and up.
    const std::vector<std::uint32_t> texels = counted_words(image.bytes(), 0x3f800000U);
    write(image, texels);
    EXPECT_EQ(read(image), texels);
  }
}

TEST_F(Images, KeepWhatLiesAroundARegion) {
  const Image image = device().create_image(described(ImageFormat::r32_uint, 8, 6));
  std::vector<std::uint32_t> expected = counted_words(image.bytes());
  write(image, expected);
  const ImageRegion region{.x = 2, .y = 1, .width = 5, .height = 3};
  std::vector<std::uint32_t> inside = counted_words(15 * 4, 1000);
  write(image, inside, region);
  for (std::uint32_t row = 0; row < 3; ++row) {
    for (std::uint32_t column = 0; column < 5; ++column) {
      expected[(row + 1) * 8 + column + 2] = inside[row * 5 + column];
    }
  }
  EXPECT_EQ(read(image), expected);
  EXPECT_EQ(read(image, region), inside);
  EXPECT_EQ(read(image, ImageRegion{.x = 7, .y = 5, .width = 1, .height = 1}),
            (std::vector<std::uint32_t>{expected.back()}));
}

TEST_F(Images, PassThroughSmallRingsInPieces) {
  // A quarter of the ring holds less than a row of the one image, and some rows of the other.
  Device own = open_device({.staging_bytes = std::uint64_t{64} << 10});
  for (const auto& [width, height] : {std::pair(5000U, 3U), std::pair(700U, 40U)}) {
    const Image image = own.create_image(described(ImageFormat::rgba32_uint, width, height));
    const std::vector<std::uint32_t> texels = counted_words(image.bytes());
    write(image, texels);
    EXPECT_EQ(read(image), texels);
  }
}

TEST_F(Images, AreCheckedBeforeVulkanIsCalled) {
  const DeviceLimits& limits = device().limits();
  const auto create = [](std::uint32_t width, std::uint32_t height, ImageUsage usage) {
    device().create_image(described(ImageFormat::rgba32_float, width, height, usage));
  };
  const std::uint64_t calls = detail::allocation_calls(*device().state());
  expect_error(ErrorCode::invalid_argument, [&] { create(0, 4, every_transfer); });
  expect_error(ErrorCode::invalid_argument, [&] { create(4, 0, every_transfer); });
  expect_error(ErrorCode::invalid_argument, [&] { create(4, 4, ImageUsage::none); });
  expect_error(ErrorCode::limit_exceeded, [&] { create(limits.largest_image_extent + 1, 1, every_transfer); });
  expect_error(ErrorCode::limit_exceeded, [&] { create(1, limits.largest_image_extent + 1, every_transfer); });
  if (limits.color_attachments > 0) {
    expect_error(ErrorCode::limit_exceeded,
                 [&] { create(limits.largest_attachment_extent + 1, 1, ImageUsage::attachment); });
  }
  const std::uint64_t largest = std::uint64_t{limits.largest_image_extent} * limits.largest_image_extent * 16;
  if (largest > limits.largest_buffer_bytes) {
    expect_error(ErrorCode::limit_exceeded,
                 [&] { create(limits.largest_image_extent, limits.largest_image_extent, every_transfer); });
  }
  EXPECT_EQ(detail::allocation_calls(*device().state()), calls);
}

TEST_F(Images, CountAgainstTheMemoryLimit) {
  Device own = open_device({.memory_limit = std::uint64_t{24} << 20, .staging_bytes = std::uint64_t{1} << 20});
  const MemoryStatistics before = own.memory();
  const ImageDescription four_mebibytes = described(ImageFormat::r32_float, 1024, 1024);
  {
    std::vector<Image> images;
    expect_error(ErrorCode::memory_limit, [&] {
      for (int count = 0; count < 8; ++count) images.push_back(own.create_image(four_mebibytes));
    });
    EXPECT_GE(images.size(), 4U);
    EXPECT_EQ(own.memory().image_count, images.size());
    EXPECT_GE(own.memory().used_bytes - before.used_bytes, images.size() << 22);
  }
  own.wait_idle();
  EXPECT_EQ(own.memory().image_count, 0U);
  EXPECT_EQ(own.memory().allocated_bytes, before.allocated_bytes);
  EXPECT_TRUE(own.create_image(four_mebibytes));
}

TEST_F(Images, FailCleanlyWhereverTheDriverHasNoMemory) {
  Device own = open_device();
  own.create_image(described(ImageFormat::r32_uint, 4, 4));  // whatever is made once
  own.wait_idle();
  const MemoryStatistics before = own.memory();
  int failures = 0;
  for (std::uint64_t call = 1; call < 20; ++call) {
    detail::fail_allocation_after(*own.state(), call);
    try {
      const Image image =
          own.create_image(described(ImageFormat::r32_uint, 64, 64, every_transfer | ImageUsage::storage));
      detail::fail_allocation_after(*own.state(), 0);
      break;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
      ++failures;
    }
    own.wait_idle();
    EXPECT_EQ(own.memory().image_count, before.image_count);
    EXPECT_EQ(own.memory().allocated_bytes, before.allocated_bytes);
  }
  EXPECT_GE(failures, 3);  // memory, image, view
}

TEST_F(Images, RejectTransfersThatDoNotFit) {
  const Image image = device().create_image(described(ImageFormat::r32_uint, 8, 6));
  const std::vector<std::uint32_t> texels = counted_words(image.bytes());
  std::vector<std::uint32_t> few(3);
  expect_error(ErrorCode::length_mismatch, [&] { write(image, few); });
  expect_error(ErrorCode::length_mismatch, [&] { device().read(image, std::as_writable_bytes(std::span(few)), {}); });
  constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
  for (const ImageRegion region :
       {ImageRegion{.x = 8, .y = 0, .width = 1, .height = 1}, ImageRegion{.x = 6, .y = 0, .width = 3, .height = 1},
        ImageRegion{.x = 0, .y = 5, .width = 1, .height = 2}, ImageRegion{.x = 0, .y = 0, .width = 0, .height = 1},
        ImageRegion{.x = 1, .y = 1, .width = most, .height = most}}) {
    expect_error(ErrorCode::range_out_of_bounds, [&] { write(image, few, region); });
  }
  expect_error(ErrorCode::missing_operand, [&] { device().write(Image(), std::as_bytes(std::span(few))); });
  const Image sampled =
      device().create_image(described(ImageFormat::r32_uint, 8, 6, ImageUsage::sampled), "sampled only");
  expect_error(ErrorCode::usage_mismatch, [&] { write(sampled, texels); });
  expect_error(ErrorCode::usage_mismatch, [&] { read(sampled); });
  Device other = open_device();
  expect_error(ErrorCode::foreign_device, [&] { other.write(image, std::as_bytes(std::span(texels))); });
}

TEST_F(Images, OfALostDeviceThrow) {
  Device own = open_device();
  const Image image = own.create_image(described(ImageFormat::r32_uint, 4, 4));
  detail::simulate_device_loss(*own.state());
  expect_error(ErrorCode::device_lost, [&] { read(image); });
  expect_error(ErrorCode::device_lost, [&] { write(image, counted_words(64)); });
  expect_error(ErrorCode::device_lost, [&] { own.create_image(image.description()); });
}

TEST_F(Images, GoWithTheirLastHandleAndKeepTheirDevice) {
  std::optional<Image> image;
  {
    Device own = open_device();
    image = own.create_image(described(ImageFormat::r32_uint, 4, 4));
  }
  const std::vector<std::uint32_t> texels = counted_words(64);
  write(*image, texels);
  EXPECT_EQ(read(*image), texels);
}

TEST_F(Images, AreWrappedFromHandles) {
  const ImageUsage usage = every_transfer | ImageUsage::storage;
  const Image image = device().create_image(described(ImageFormat::rgba32_float, 4, 2, usage));
  const interop::VulkanImage raw = interop::handles(image);
  EXPECT_EQ(raw.format, VK_FORMAT_R32G32B32A32_SFLOAT);
  EXPECT_EQ(raw.extent.width, 4U);
  EXPECT_EQ(raw.extent.height, 2U);
  auto owner = std::make_shared<int>(1);
  Image wrapped = interop::wrap(device(), {.image = raw.image,
                                           .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                                                    VK_IMAGE_USAGE_STORAGE_BIT,
                                           .format = ImageFormat::rgba32_float,
                                           .extent = raw.extent,
                                           .name = "wrapped",
                                           .owner = owner});
  EXPECT_EQ(wrapped.usage(), usage);
  const std::vector<std::uint32_t> texels = counted_words(image.bytes(), 0x3f800000U);
  write(wrapped, texels);
  EXPECT_EQ(read(image), texels);
  device().wait_idle();
  wrapped = Image();
  EXPECT_EQ(owner.use_count(), 1);
  expect_error(ErrorCode::missing_operand, [] { interop::handles(Image()); });
  expect_error(ErrorCode::missing_operand, [] { interop::wrap(device(), interop::ForeignImage{}); });
  expect_error(ErrorCode::invalid_argument, [&] {
    interop::wrap(device(), interop::ForeignImage{.image = raw.image, .usage = VK_IMAGE_USAGE_SAMPLED_BIT});
  });
}

}  // namespace
}  // namespace tessera::test
