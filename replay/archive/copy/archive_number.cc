#include "replay/archive/copy/archive_number.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

namespace rubato {
namespace {

std::optional<std::string> whole_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file) return std::nullopt;
  return text;
}

/// FNV-1a.
uint64_t hash(const std::string& text) {
  uint64_t sum = 0xcbf29ce484222325u;
  for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return sum;
}

}  // namespace

bool make_number_reproducible(const std::string& anchor, uint64_t number) {
  const std::filesystem::path path(anchor);
  std::optional<std::string> text = whole_text(path);
  const auto definitions = whole_text(std::filesystem::path(path).replace_extension(".def"));
  if (!text || !definitions) return false;
  // The anchor has it in the byte order of this machine, near its end.
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  const size_t at = text->rfind(bytes);
  if (at == std::string::npos) return false;
  text->replace(at, sizeof number, sizeof number, '\0');
  number = hash(*text + *definitions);
  std::memcpy(text->data() + at, &number, sizeof number);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text->data(), static_cast<std::streamsize>(text->size()));
  file.close();
  return !file.fail();
}

}  // namespace rubato
