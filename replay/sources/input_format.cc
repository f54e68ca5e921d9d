#include "replay/sources/input_format.h"

#include <filesystem>

#include "models/base/input_file.h"
#include "replay/archive/archive.h"
#include "replay/sources/text_source.h"

namespace rubato {
namespace {

const InputFormat kText = {
    "text",
    "calls written by hand, a file NAME.txt (share/doc/text-traces.md)",
    [](const std::string& path) {
      std::error_code ignored;
      return path.ends_with(".txt") && !std::filesystem::is_directory(path, ignored);
    },
    [](const std::string& path, const InputOptions&) {
      return parse_text_trace(text_of_file(path, "a trace", size_t{1} << 30), path);
    },
};

const InputFormat kOtf2 = {
    "otf2",
    "an archive, named by its directory or its file NAME.otf2",
    [](const std::string&) { return true; },
    [](const std::string& path, const InputOptions& options) {
      return open_archive(path, options);
    },
};

std::vector<const InputFormat*>& known() {
  static std::vector<const InputFormat*> formats = {&kText, &kOtf2};
  return formats;
}

}  // namespace

const std::vector<const InputFormat*>& input_formats() {
  return known();
}

void add_input_format(const InputFormat& format) {
  known().insert(known().begin(), &format);
}

std::unique_ptr<EventSource> open_trace(const std::string& path, const InputOptions& options) {
  for (const InputFormat* format : known())
    if (format->recognises(path)) return format->open(path, options);
  return nullptr;  // not reached: the last one recognises everything
}

}  // namespace rubato
