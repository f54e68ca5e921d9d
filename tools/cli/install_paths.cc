#include "tools/cli/install_paths.h"

#include <filesystem>

namespace rubato {
namespace {

std::string under_prefix(const char* path) {
  static const std::filesystem::path prefix =
      std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
  return (prefix / path).string();
}

}  // namespace

std::string library_dir() {
  return under_prefix(RUBATO_LIBRARY_DIR);
}
std::string libexec_dir() {
  return under_prefix("libexec/rubato");
}
std::string share_dir() {
  return under_prefix("share/rubato");
}
std::string platforms_dir() {
  return under_prefix("share/rubato/platforms");
}

}  // namespace rubato
