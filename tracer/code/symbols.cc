#include "tracer/code/symbols.h"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tracer/code/source_lines.h"

namespace rubato {
inline namespace tracing {
namespace {

std::string hexadecimal(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string demangled(const char* symbol) {
  int status = 0;
  char* name = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
  std::string result = status == 0 && name != nullptr ? name : symbol;
  std::free(name);
  return result;
}

}  // namespace

/// The symbol table of one file of code.
class Symbols::File {
 public:
  struct Symbol {
    uint64_t address;
    uint64_t bytes;
    const char* name;
    bool local;
  };

  explicit File(const std::string& name) : name_(name), lines_(nullptr) {
    const int file = ::open(name.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat info;
    if (file < 0) return;
    if (fstat(file, &info) == 0 && info.st_size >= static_cast<off_t>(sizeof(Elf64_Ehdr))) {
      size_ = static_cast<size_t>(info.st_size);
      void* memory = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
      if (memory != MAP_FAILED) bytes_ = static_cast<const char*>(memory);
    }
    close(file);
    if (bytes_ != nullptr) read();
  }
  ~File() {
    if (bytes_ != nullptr) munmap(const_cast<char*>(bytes_), size_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  /// The address, as the file counts, of what is at this offset of it; false: nothing is loaded
  /// from there.
  bool address_of(uint64_t offset, uint64_t& address) const {
    for (const Elf64_Phdr& part : parts_) {
      const uint64_t begin = part.p_offset & ~uint64_t{4095};
      if (offset < begin || offset >= part.p_offset + part.p_filesz) continue;
      address = part.p_vaddr + offset - part.p_offset;
      return true;
    }
    return false;
  }

  const Symbol* find(uint64_t address) const {
    auto next = std::upper_bound(symbols_.begin(), symbols_.end(), address,
                                 [](uint64_t a, const Symbol& s) { return a < s.address; });
    if (next == symbols_.begin()) return nullptr;
    const uint64_t begin = std::prev(next)->address;
    // If a function has several names, take the first: global symbols are sorted before local ones.
    while (next != symbols_.begin() && std::prev(next)->address == begin) --next;
    const bool inside = next->bytes == 0 || address < next->address + next->bytes;
    return inside ? &*next : nullptr;
  }

  const std::vector<Symbol>& symbols() const { return symbols_; }

  SourceLines& lines() {
    if (lines_ == nullptr) lines_ = std::make_unique<SourceLines>(name_);
    return *lines_;
  }

 private:
  template <class Part>
  const Part* at(uint64_t offset, uint64_t count) const {
    if (offset > size_ || count > (size_ - offset) / sizeof(Part)) return nullptr;
    return reinterpret_cast<const Part*>(bytes_ + offset);
  }

  void read() {
    const auto* head = at<Elf64_Ehdr>(0, 1);
    if (std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64 ||
        head->e_ident[EI_DATA] != ELFDATA2LSB) {
      return;
    }
    if (const auto* parts = at<Elf64_Phdr>(head->e_phoff, head->e_phnum)) {
      for (int i = 0; i < head->e_phnum; ++i) {
        if (parts[i].p_type == PT_LOAD) parts_.push_back(parts[i]);
      }
    }
    const auto* sections = at<Elf64_Shdr>(head->e_shoff, head->e_shnum);
    if (sections == nullptr) return;
    // The full table where the file still has it, else the names that other files may use.
    for (const uint32_t wanted : {SHT_SYMTAB, SHT_DYNSYM}) {
      for (int i = 0; i < head->e_shnum && symbols_.empty(); ++i) {
        if (sections[i].sh_type == wanted && sections[i].sh_link < head->e_shnum) {
          read_table(sections[i], sections[sections[i].sh_link]);
        }
      }
    }
    std::stable_sort(symbols_.begin(), symbols_.end(), [](const Symbol& a, const Symbol& b) {
      return a.address != b.address ? a.address < b.address : a.local < b.local;
    });
  }

  void read_table(const Elf64_Shdr& table, const Elf64_Shdr& names) {
    const uint64_t count = table.sh_size / sizeof(Elf64_Sym);
    const auto* symbols = at<Elf64_Sym>(table.sh_offset, count);
    const char* text = at<char>(names.sh_offset, names.sh_size);
    if (symbols == nullptr || text == nullptr || names.sh_size == 0) return;
    if (text[names.sh_size - 1] != '\0') return;
    for (uint64_t i = 0; i < count; ++i) {
      const Elf64_Sym& s = symbols[i];
      const unsigned type = ELF64_ST_TYPE(s.st_info);
      if ((type != STT_FUNC && type != STT_GNU_IFUNC) || s.st_shndx == SHN_UNDEF) continue;
      if (s.st_name == 0 || s.st_name >= names.sh_size) continue;
      symbols_.push_back(
          {s.st_value, s.st_size, text + s.st_name, ELF64_ST_BIND(s.st_info) == STB_LOCAL});
    }
  }

  std::string name_;
  const char* bytes_ = nullptr;
  size_t size_ = 0;
  std::vector<Elf64_Phdr> parts_;
  std::vector<Symbol> symbols_;
  std::unique_ptr<SourceLines> lines_;
};

Symbols::Symbols(std::vector<Module> modules) : modules_(std::move(modules)) {}
Symbols::~Symbols() = default;

Symbols::File* Symbols::open(const Module& module) {
  if (module.file.empty() || module.file[0] != '/') return nullptr;
  const auto [place, is_new] = files_.try_emplace(module.file);
  struct stat info;
  // A file rebuilt since then would give wrong names.
  if (is_new && stat(module.file.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
      static_cast<uint64_t>(info.st_size) == module.bytes &&
      static_cast<uint64_t>(info.st_mtime) == module.modified) {
    place->second = std::make_unique<File>(module.file);
  }
  return place->second.get();
}

bool Symbols::locate(uint64_t address, Place& place) {
  for (auto module = modules_.rbegin(); module != modules_.rend(); ++module) {
    if (address < module->begin || address >= module->end) continue;
    const uint64_t offset = address - module->begin + module->offset;
    place = {open(*module), &*module, offset};
    uint64_t begin;
    if (place.file == nullptr) return true;
    if (place.file->address_of(module->offset, begin)) {
      place.address = begin + (address - module->begin);
    } else {
      place.file = nullptr;
    }
    return true;
  }
  return false;
}

CodeName Symbols::describe(uint64_t address, uint64_t line_of) {
  CodeName result;
  Place place;
  if (!locate(address, place)) {
    result.name = result.symbol = hexadecimal(address);
    result.offset = address;
    return result;
  }
  const std::string& file = place.module->file;
  result.module = file.empty() ? "unknown" : file.substr(file.rfind('/') + 1);
  result.offset = place.address;
  if (place.file != nullptr) {
    const uint64_t back = address - line_of;
    if (const File::Symbol* symbol = place.file->find(place.address - back)) {
      result.known = true;
      result.symbol = symbol->name;
      result.name = demangled(symbol->name);
      result.offset = place.address - symbol->address;
    }
    place.file->lines().find(place.address - back, result.file, result.line);
  }
  if (!result.known) {
    result.name = result.symbol = result.module + "+" + hexadecimal(result.offset);
  }
  return result;
}

CodeName Symbols::find(uint64_t address) {
  return describe(address, address);
}

CodeName Symbols::find_call(uint64_t return_address) {
  return describe(return_address, return_address - 1);
}

std::vector<std::pair<uint64_t, std::string>> Symbols::functions() {
  std::vector<std::pair<uint64_t, std::string>> list;
  for (const Module& module : modules_) {
    const File* file = open(module);
    uint64_t begin;
    if (file == nullptr || !file->address_of(module.offset, begin)) continue;
    uint64_t last = UINT64_MAX;
    for (const File::Symbol& symbol : file->symbols()) {
      const uint64_t address = symbol.address - begin + module.begin;
      if (symbol.address < begin || address >= module.end || symbol.address == last) continue;
      last = symbol.address;
      list.emplace_back(address, demangled(symbol.name));
    }
  }
  return list;
}

}  // namespace tracing
}  // namespace rubato
