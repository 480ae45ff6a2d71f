#pragma once

// Vulkan-Hpp as this folder uses it; precompiled, for it takes seconds to parse. No other folder includes it.

#define VULKAN_HPP_DISPATCH_LOADER_DYNAMIC 1
#define VULKAN_HPP_ENABLE_DYNAMIC_LOADER_TOOL 0
#define VULKAN_HPP_NO_SPACESHIP_OPERATOR
#define VULKAN_HPP_NO_STRUCT_SETTERS

#include <vulkan/vulkan_raii.hpp>
