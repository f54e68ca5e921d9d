#include "tools/replay_command.h"

#include <fmt/core.h>

#include <filesystem>

namespace rubato {

std::string shell_word(const std::string& word) {
  const char* const harmless =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+%@";
  if (!word.empty() && word.find_first_not_of(harmless) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

std::string archive_word(const TraceSummary& trace) {
  const std::filesystem::path path = trace.path;
  if (path.filename() != "traces.otf2" || !path.has_parent_path()) return shell_word(trace.path);
  return shell_word(path.parent_path().string());
}

std::string replay_command(const TraceSummary& trace, const std::string& scenarios) {
  return fmt::format("rubato replay {} {}", archive_word(trace), scenarios);
}

}  // namespace rubato
