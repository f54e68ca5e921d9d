#include "tools/launch/preload_path.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "models/base/error.h"

namespace rubato {
namespace {

bool loader_takes(const std::string& path) {
  return path.find_first_of(" :$") == std::string::npos;
}

/// True if no other user can replace files of this user in `place`: by the permissions of the
/// directory or its sticky bit. The owner of a directory always can.
bool is_safe(const std::string& place) {
  struct stat info;
  if (stat(place.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return false;
  const bool of_others = info.st_uid != geteuid() && info.st_uid != 0;
  return !of_others && ((info.st_mode & S_ISVTX) != 0 || (info.st_mode & 022) == 0);
}

/// True if `link` belongs to this user and points to `target`.
bool is_ours(const std::string& link, const std::string& target) {
  struct stat info;
  char text[PATH_MAX];
  if (lstat(link.c_str(), &info) != 0 || !S_ISLNK(info.st_mode) || info.st_uid != geteuid())
    return false;
  const ssize_t length = readlink(link.c_str(), text, sizeof text);
  return length >= 0 && std::string(text, static_cast<size_t>(length)) == target;
}

/// FNV-1a: the same in all versions of Rubato.
uint64_t hash_of(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace

std::string preload_directory(const std::string& directory) {
  if (loader_takes(directory)) return directory;
  const char* temporary = std::getenv("TMPDIR");
  std::string tried;
  for (const char* place : {temporary, "/tmp", "/var/tmp", "/dev/shm"}) {
    if (place == nullptr || *place != '/' || !loader_takes(place) || !is_safe(place)) continue;
    const std::string link =
        fmt::format("{}/rubato-tracer-{}-{:016x}", place, geteuid(), hash_of(directory));
    // The ranks of a node create the same link concurrently.
    const int error = symlink(directory.c_str(), link.c_str()) == 0 ? 0 : errno;
    if (is_ours(link, directory)) return link;
    tried += fmt::format("; {}: {}", link, std::strerror(error));
  }
  throw InputError(fmt::format(
      "{}: a path with a blank, a colon or '$' cannot be preloaded, and no symbolic link to it "
      "can be created in TMPDIR, /tmp, /var/tmp or /dev/shm; nothing was started (install Rubato "
      "under another path){}",
      directory, tried));
}

}  // namespace rubato
