#pragma once

// The device layer as the library's other layers see it: Vulkan C handles, no Vulkan-Hpp.

#include "device/buffer_state.hpp"
#include "device/commands.hpp"
#include "device/device_functions.hpp"
#include "device/device_state.hpp"
#include "device/encoder_state.hpp"
#include "device/image_kernels.hpp"
#include "device/image_state.hpp"
#include "device/testing.hpp"
