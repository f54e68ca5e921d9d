#include "tools/launch/preloadable.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>
#include <system_error>

namespace rubato {
namespace {

/// True if the program has a dynamic loader, or if that cannot be determined.
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

/// True if the program's symbol table defines this function; false without a symbol table.
bool defines(const std::string& program, const std::string& function) {
  const int file = open(program.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info;
  void* memory = MAP_FAILED;
  if (file >= 0 && fstat(file, &info) == 0 && info.st_size > 0)
    memory = mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_PRIVATE, file, 0);
  if (file >= 0) close(file);
  if (memory == MAP_FAILED) return false;
  const auto unmap = [&info](void* begin) { munmap(begin, static_cast<size_t>(info.st_size)); };
  const std::unique_ptr<void, decltype(unmap)> mapping(memory, unmap);
  const std::string_view bytes(static_cast<const char*>(memory), static_cast<size_t>(info.st_size));
  /// `count` elements at an offset; null if the file ends before.
  const auto at = [&]<class Part>(uint64_t offset, uint64_t count, const Part*) -> const Part* {
    if (offset > bytes.size() || count > (bytes.size() - offset) / sizeof(Part)) return nullptr;
    return reinterpret_cast<const Part*>(bytes.data() + offset);
  };
  const auto* header = at(0, 1, static_cast<const Elf64_Ehdr*>(nullptr));
  if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return false;
  if (header->e_ident[EI_CLASS] != ELFCLASS64) return false;
  const auto* sections =
      at(header->e_shoff, header->e_shnum, static_cast<const Elf64_Shdr*>(nullptr));
  for (int i = 0; sections != nullptr && i < header->e_shnum; ++i) {
    const Elf64_Shdr& table = sections[i];
    if (table.sh_type != SHT_SYMTAB && table.sh_type != SHT_DYNSYM) continue;
    if (table.sh_link >= header->e_shnum) continue;
    const uint64_t count = table.sh_size / sizeof(Elf64_Sym);
    const auto* symbols = at(table.sh_offset, count, static_cast<const Elf64_Sym*>(nullptr));
    for (uint64_t s = 0; symbols != nullptr && s < count; ++s) {
      const uint64_t name = sections[table.sh_link].sh_offset + symbols[s].st_name;
      if (symbols[s].st_shndx != SHN_UNDEF && name + function.size() < bytes.size() &&
          bytes.substr(name, function.size()) == function && bytes[name + function.size()] == 0) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

std::string why_not_preloaded(const std::string& program) {
  // The loader itself, as a command: it loads the tracer with the program that it is given.
  std::error_code error;
  const std::string file = std::filesystem::canonical(program, error).filename();
  if (file.starts_with("ld-") && file.find(".so") != std::string::npos) return "";
  if (!has_loader(program)) return "is statically linked";
  if (defines(program, "PMPI_Init")) return "has MPI linked in statically";
  struct stat info;
  if (stat(program.c_str(), &info) != 0) return "";
  const bool other_user = (info.st_mode & S_ISUID) != 0 && info.st_uid != getuid();
  const bool other_group = (info.st_mode & S_ISGID) != 0 && info.st_gid != getgid();
  if (other_user || other_group) return "runs with the rights of another user";
  const bool capabilities = getxattr(program.c_str(), "security.capability", nullptr, 0) > 0;
  return capabilities && getuid() != 0 ? "has capabilities of its own (getcap)" : "";
}

}  // namespace rubato
