#include "models/platform/platform_presets.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace rubato {

std::vector<std::string> preset_names(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return strverscmp(a.c_str(), b.c_str()) < 0;
  });
  return names;
}

std::string preset_path(const std::string& directory, const std::string& name) {
  // A name, not a way out of the directory.
  if (directory.empty() || name.empty() || name.find('/') != std::string::npos) return "";
  const std::string path = directory + "/" + name + ".toml";
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) ? path : "";
}

}  // namespace rubato
