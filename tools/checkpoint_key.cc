#include "tools/checkpoint_key.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <filesystem>
#include <system_error>

#include "replay/archive/archive.h"

namespace rubato {
namespace {

/// Name, size and time of the last change; the name alone where there is no such file.
std::string state_of(const std::filesystem::path& file) {
  std::error_code ignored;
  const auto whole = std::filesystem::weakly_canonical(file, ignored).string();
  struct stat status {};
  if (stat(whole.c_str(), &status) != 0) return whole + "\n";
  return fmt::format("{} {} {}.{:09}\n", whole, status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec);
}

}  // namespace

std::string checkpoint_key(const std::string& archive, const std::vector<Scenario>& scenarios,
                           const std::string& words) {
  std::filesystem::path anchor = archive;
  std::error_code ignored;
  if (std::filesystem::is_directory(anchor, ignored)) anchor = find_anchor(archive);
  std::string key = state_of("/proc/self/exe") + state_of(anchor) +
                    state_of(std::filesystem::path(anchor).replace_extension(".def")) + words +
                    "\n";
  for (const Scenario& scenario : scenarios) {
    key += scenario.name + "\n";
    if (!scenario.platform_file.empty()) key += state_of(scenario.platform_file);
  }
  return key;
}

}  // namespace rubato
