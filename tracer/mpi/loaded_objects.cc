#include "tracer/mpi/loaded_objects.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "tracer/mpi/symbol_lookup.h"

namespace rubato {
inline namespace tracing {
namespace objects {
namespace {

/// A function that the tracer may define.
bool is_stood_in_for(const char* name) {
  return std::strncmp(name, "MPI", 3) == 0 || std::strncmp(name, "PMPI", 4) == 0 ||
         std::strcmp(name, "dlsym") == 0 || std::strcmp(name, "dlopen") == 0;
}

/// Relocations that the address of a function goes into.
#ifdef __x86_64__
constexpr unsigned kAddresses[] = {R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, R_X86_64_64};
#else
constexpr unsigned kAddresses[] = {R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT, R_AARCH64_ABS64};
#endif

/// The relocations of an object, from its dynamic section.
struct Relocations {
  const Elf64_Sym* symbols = nullptr;
  const char* names = nullptr;
  /// Two tables: of data and of calls.
  const Elf64_Rela* begin[2] = {nullptr, nullptr};
  size_t count[2] = {0, 0};

  explicit Relocations(const link_map& object) {
    // The loader has added the base to addresses, except in objects whose section is read-only.
    const auto at = [&](const Elf64_Dyn& entry) {
      const uint64_t value = entry.d_un.d_ptr;
      return value < object.l_addr ? object.l_addr + value : value;
    };
    if (object.l_ld == nullptr) return;
    for (const Elf64_Dyn* entry = object.l_ld; entry->d_tag != DT_NULL; ++entry) {
      switch (entry->d_tag) {
        case DT_SYMTAB:
          symbols = reinterpret_cast<const Elf64_Sym*>(at(*entry));
          break;
        case DT_STRTAB:
          names = reinterpret_cast<const char*>(at(*entry));
          break;
        case DT_RELA:
          begin[0] = reinterpret_cast<const Elf64_Rela*>(at(*entry));
          break;
        case DT_RELASZ:
          count[0] = entry->d_un.d_val / sizeof(Elf64_Rela);
          break;
        case DT_JMPREL:
          begin[1] = reinterpret_cast<const Elf64_Rela*>(at(*entry));
          break;
        case DT_PLTRELSZ:
          count[1] = entry->d_un.d_val / sizeof(Elf64_Rela);
          break;
      }
    }
  }
  bool complete() const { return symbols != nullptr && names != nullptr; }
};

}  // namespace

const link_map* holding(const void* address) {
  Dl_info info;
  link_map* object = nullptr;
  const int found = dladdr1(address, &info, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP);
  return found != 0 ? object : nullptr;
}

const link_map* defining(const void* function) {
  Dl_info info;
  Elf64_Sym* symbol = nullptr;
  const int found = dladdr1(function, &info, reinterpret_cast<void**>(&symbol), RTLD_DL_SYMENT);
  const bool defined = found != 0 && symbol != nullptr && symbol->st_shndx != SHN_UNDEF;
  return defined ? holding(function) : nullptr;
}

Range range_of(const link_map& object) {
  struct Search {
    const link_map& object;
    Range range;
  } search{object, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* s = static_cast<Search*>(data);
        if (info->dlpi_addr != s->object.l_addr) return 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          if (part.p_type != PT_LOAD) continue;
          const uintptr_t begin = info->dlpi_addr + part.p_vaddr;
          if (s->range.end == 0) s->range.begin = begin;  // they are in ascending order
          s->range.end = begin + part.p_memsz;
        }
        return 1;
      },
      &search);
  return search.range;
}

std::string file_name(const link_map& object) {
  const std::string path = object.l_name;
  return path.empty() ? "the program" : path.substr(path.rfind('/') + 1);
}

void* scope_definition(const link_map& object, const char* name) {
  void* const handle =
      dlopen(*object.l_name == '\0' ? nullptr : object.l_name, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* const function = real_dlsym(handle, name);
  dlclose(handle);
  return function;
}

bool is_mpi_library(const link_map& object) {
  const void* init = scope_definition(object, "PMPI_Init");
  return init != nullptr && holding(init) == &object;
}

std::vector<Reference> references(const link_map& object) {
  std::vector<Reference> found;
  const Relocations relocations(object);
  if (!relocations.complete()) return found;
  for (int table = 0; table < 2; ++table) {
    for (size_t i = 0; i < relocations.count[table]; ++i) {
      const Elf64_Rela& relocation = relocations.begin[table][i];
      const auto type = ELF64_R_TYPE(relocation.r_info);
      if (std::ranges::find(kAddresses, type) == std::end(kAddresses)) continue;
      const Elf64_Sym& symbol = relocations.symbols[ELF64_R_SYM(relocation.r_info)];
      const char* name = relocations.names + symbol.st_name;
      if (symbol.st_shndx != SHN_UNDEF || relocation.r_addend != 0) continue;
      if (!is_stood_in_for(name)) continue;
      found.push_back({name, reinterpret_cast<void**>(object.l_addr + relocation.r_offset)});
    }
  }
  return found;
}

bool rebind(const Reference& reference, void* target) {
  struct Search {
    uintptr_t address;
    bool read_only = false;
  } search{reinterpret_cast<uintptr_t>(reference.place)};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* s = static_cast<Search*>(data);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          if (part.p_type == PT_GNU_RELRO)
            s->read_only |= s->address - (info->dlpi_addr + part.p_vaddr) < part.p_memsz;
        }
        return s->read_only ? 1 : 0;
      },
      &search);
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  void* const begin = reinterpret_cast<void*>(search.address & ~(page - 1));
  if (search.read_only && mprotect(begin, page, PROT_READ | PROT_WRITE) != 0) return false;
  __atomic_store_n(reference.place, target, __ATOMIC_RELEASE);
  if (search.read_only) mprotect(begin, page, PROT_READ);
  return true;
}

std::vector<Name> all() {
  std::vector<Name> list;
  // Call no other loader function in here: it holds a lock which they take after another one.
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        static_cast<std::vector<Name>*>(data)->push_back({info->dlpi_name, info->dlpi_addr});
        return 0;
      },
      &list);
  return list;
}

Pin::Pin(const Name& name)
    : handle_(dlopen(name.path.empty() ? nullptr : name.path.c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
  link_map* object = nullptr;
  if (handle_ == nullptr || dlinfo(handle_, RTLD_DI_LINKMAP, &object) != 0) return;
  if (object->l_addr == name.base) object_ = object;
}

Pin::~Pin() {
  if (handle_ != nullptr) dlclose(handle_);
}

}  // namespace objects
}  // namespace tracing
}  // namespace rubato
