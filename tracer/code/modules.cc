#include "tracer/code/modules.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <mutex>

#include "tracer/layout/journal.h"

namespace rubato {
inline namespace tracing {

namespace modules {
namespace {

std::mutex mutex;
std::vector<Module> known;
std::vector<std::string> wrappers_of_mpi;  ///< names of files

const Module* find(uint64_t address) {
  // The latest first: a library may have been unloaded and another one be in its place.
  const auto place = std::find_if(known.rbegin(), known.rend(), [address](const Module& m) {
    return address >= m.begin && address < m.end;
  });
  return place == known.rend() ? nullptr : &*place;
}

void add(const Module& module) {
  known.push_back(module);
  journal::module(module);
}

/// Adds the present mappings that are not known yet.
void read_maps() {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (std::getline(maps, line)) {
    Module module;
    char rights[5] = "";
    int name = 0;
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n",
                    &module.begin, &module.end, rights, &module.offset, &name) != 4 ||
        std::strchr(rights, 'x') == nullptr) {
      continue;
    }
    module.file = line.substr(std::min(static_cast<size_t>(name), line.size()));
    struct stat info;
    if (stat(module.file.c_str(), &info) == 0) {
      module.bytes = static_cast<uint64_t>(info.st_size);
      module.modified = static_cast<uint64_t>(info.st_mtime);
    }
    const Module* old = find(module.begin);
    if (old != nullptr && old->begin == module.begin && old->end == module.end &&
        old->file == module.file) {
      continue;
    }
    add(module);
  }
}

}  // namespace

void start(const std::vector<std::string>& wrapper_libraries) {
  const std::lock_guard lock(mutex);
  wrappers_of_mpi = wrapper_libraries;
  read_maps();
}

Range note(uint64_t address) {
  const int program_errno = errno;
  const std::lock_guard lock(mutex);
  const Module* module = find(address);
  if (module == nullptr) {
    read_maps();
    module = find(address);
  }
  if (module == nullptr) {  // generated at run time; kept to avoid a search each time
    Module page;
    page.begin = address & ~uint64_t{4095};
    page.end = page.begin + 4096;
    add(page);
    module = &known.back();
  }
  const char* slash = std::strrchr(module->file.c_str(), '/');
  errno = program_errno;  // the program may be about to read it
  const bool bindings =
      slash != nullptr && (std::strncmp(slash + 1, "libmpi", 6) == 0 ||
                           std::find(wrappers_of_mpi.begin(), wrappers_of_mpi.end(), slash + 1) !=
                               wrappers_of_mpi.end());
  return {module->begin, module->end, bindings};
}

std::vector<Module> seen() {
  const std::lock_guard lock(mutex);
  return known;
}

}  // namespace modules
}  // namespace tracing
}  // namespace rubato
