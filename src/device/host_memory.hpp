#pragma once

#include <cstdint>

namespace tessera::detail {

/// Bytes that this process can still take without swapping: what the kernel calls available, or what the process's
/// control group leaves if that is less. The largest value of the type where neither can be read.
std::uint64_t available_host_memory();

}  // namespace tessera::detail
