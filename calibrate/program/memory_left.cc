#include "calibrate/program/memory_left.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>

namespace rubato {
namespace {

namespace fs = std::filesystem;
using Bytes = unsigned long long;

constexpr Bytes kUnlimited = std::numeric_limits<Bytes>::max();

/// File names of a version of control groups.
struct GroupFiles {
  const char* mount;
  const char* limit;
  const char* usage;
  const char* cache[2];  ///< of memory.stat
};
constexpr GroupFiles kVersion1 = {"/sys/fs/cgroup/memory",
                                  "memory.limit_in_bytes",
                                  "memory.usage_in_bytes",
                                  {"total_inactive_file", "total_active_file"}};
constexpr GroupFiles kVersion2 = {
    "/sys/fs/cgroup", "memory.max", "memory.current", {"inactive_file", "active_file"}};

/// The number at the begin of a file; `otherwise` without a number ("max") or file.
Bytes number_in(const fs::path& file, Bytes otherwise) {
  std::ifstream in(file);
  Bytes number = 0;
  return in >> number ? number : otherwise;
}

Bytes page_cache(const fs::path& group, const GroupFiles& files) {
  std::ifstream in(group / "memory.stat");
  Bytes sum = 0;
  std::string key;
  for (Bytes value = 0; in >> key >> value;) {
    if (key == files.cache[0] || key == files.cache[1]) sum += value;
  }
  return sum;
}

Bytes left_in(const fs::path& group, const GroupFiles& files) {
  const Bytes limit = number_in(group / files.limit, kUnlimited);
  if (limit == kUnlimited) return limit;
  const Bytes usage = number_in(group / files.usage, 0);
  const Bytes used = usage - std::min(usage, page_cache(group, files));
  return limit - std::min(limit, used);
}

/// The least of a group ("/job/step") and all enclosing groups. In a container the outer ones may
/// be invisible, and its own group is the mount itself.
Bytes left_in_groups(const std::string& root, const std::string& path, const GroupFiles& files) {
  Bytes left = kUnlimited;
  for (fs::path group = path;; group = group.parent_path()) {
    left = std::min(left, left_in(root + files.mount + group.string(), files));
    if (group == group.parent_path()) return left;
  }
}

}  // namespace

unsigned long long memory_left(const std::string& root) {
  Bytes left = kUnlimited;
  std::ifstream meminfo(root + "/proc/meminfo");
  for (std::string line; std::getline(meminfo, line);) {
    Bytes kilobytes = 0;
    if (std::sscanf(line.c_str(), "MemAvailable: %llu kB", &kilobytes) == 1)
      left = kilobytes * 1024;
  }
  // "4:cpu,cpuacct:/path" of version 1, "0::/path" of version 2.
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1);
    if (controllers == ",,")
      left = std::min(left, left_in_groups(root, path, kVersion2));
    else if (controllers.find(",memory,") != std::string::npos)
      left = std::min(left, left_in_groups(root, path, kVersion1));
  }
  return left;
}

}  // namespace rubato
