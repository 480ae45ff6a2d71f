#include <tessera/version.hpp>

namespace tessera {

std::string_view version() noexcept { return TESSERA_VERSION_STRING; }

VersionNumber version_number() noexcept { return header_version; }

}  // namespace tessera
