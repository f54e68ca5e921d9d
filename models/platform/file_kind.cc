#include "models/platform/file_kind.h"

#include <algorithm>

#include "models/base/error.h"
#include "models/base/shell_quoted.h"

namespace rubato {
namespace {

/// The first line that is not empty and no comment.
std::string first_line(const std::string& text) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin && text[begin] != '#' && text[begin] != '\r')
      return text.substr(begin, end - begin);
    begin = end + 1;
  }
  return "";
}

}  // namespace

void refuse_other_kinds(const std::string& text, const std::string& path) {
  const auto fail = [&](const std::string& what) { throw InputError(path + ": is " + what); };
  const std::string file = shell_quoted(path), line = first_line(text);
  if (text.substr(0, 16).find("OTF2") != std::string::npos)
    fail("an OTF2 archive, not a platform file; see 'rubato info " + file + "'");
  if (text.find('\0') != std::string::npos) fail("not a platform file: it is binary");
  if (line.starts_with("level,")) {
    fail("a file of samples, not a platform file; make one with 'rubato fit " + file +
         " -o FILE.toml'");
  }
  if (line.starts_with("<")) {
    fail(
        "XML, not a platform file; for SimGrid's platforms see topology = \"simgrid\" in "
        "share/doc/networks.md");
  }
  if (line.starts_with("{")) fail("JSON, not a platform file");
  if (line.find_first_of("=[") == std::string::npos && line.find(',') != std::string::npos)
    fail("a table of values (CSV), not a platform file");
}

}  // namespace rubato
