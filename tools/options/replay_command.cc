#include "tools/options/replay_command.h"

#include <fmt/core.h>

#include <filesystem>

#include "models/base/shell_quoted.h"

namespace rubato {

std::string archive_word(const TraceSummary& trace) {
  const std::filesystem::path path = trace.path;
  const bool is_directory = path.filename() == "traces.otf2" && path.has_parent_path();
  const std::string name = is_directory ? path.parent_path().string() : trace.path;
  return shell_quoted(name.starts_with('-') ? "./" + name : name);
}

std::string ask_again(const std::string& command, const Results& results,
                      const std::string& words) {
  std::string text = fmt::format("rubato {} {}", command, archive_word(results.trace));
  for (const std::string& more : {words, results.asked_with}) {
    if (!more.empty()) text += " " + more;
  }
  return text;
}

std::vector<std::string> options_of(const std::string& command) {
  std::vector<std::string> parts;
  bool quoted = false;
  size_t begin = 0;
  for (size_t at = 0; at < command.size(); ++at) {
    if (command[at] == '\\' && !quoted) {
      ++at;  // the next character is literal
    } else if (command[at] == '\'') {
      quoted = !quoted;
    } else if (!quoted && at > begin && command.compare(at, 3, " --") == 0) {
      parts.push_back(command.substr(begin, at - begin));
      begin = at;
    }
  }
  parts.push_back(command.substr(begin));
  return parts;
}

}  // namespace rubato
