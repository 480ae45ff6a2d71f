#pragma once

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace tessera::cli {

inline void write_text_file(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw std::runtime_error("can't write " + path.string());
}

}  // namespace tessera::cli
