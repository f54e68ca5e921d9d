#include "tools/preloadable.h"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

namespace rubato {
namespace {

/// The file names a dynamic loader; true as well where that cannot be told.
bool has_loader(const std::string& program) {
  std::ifstream file(program, std::ios::binary);
  Elf64_Ehdr header;
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return true;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_phentsize != sizeof(Elf64_Phdr)) {
    return true;
  }
  file.seekg(static_cast<std::streamoff>(header.e_phoff));
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!file.read(reinterpret_cast<char*>(&segment), sizeof segment)) return true;
    if (segment.p_type == PT_INTERP) return true;
  }
  return false;
}

}  // namespace

std::string why_not_preloaded(const std::string& program) {
  if (!has_loader(program)) return "is statically linked";
  struct stat info;
  if (stat(program.c_str(), &info) != 0) return "";
  const bool other_user = (info.st_mode & S_ISUID) != 0 && info.st_uid != getuid();
  const bool other_group = (info.st_mode & S_ISGID) != 0 && info.st_gid != getgid();
  return other_user || other_group ? "runs with the rights of another user" : "";
}

}  // namespace rubato
