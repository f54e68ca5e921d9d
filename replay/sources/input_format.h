#pragma once

// Where calls come from. A format is one EventSource and one InputFormat: those of Rubato stand in
// input_format.cc; programs built on the library add theirs with add_input_format().

#include <memory>
#include <string>
#include <vector>

#include "replay/trace/input_options.h"
#include "replay/trace/trace.h"

namespace rubato {

/// A kind of file, or directory, that holds a recorded run.
struct InputFormat {
  const char* name;
  const char* doc;  ///< half a line: what it is and how it is recognised
  /// True if `path` is meant to be of this format, good or bad.
  bool (*recognises)(const std::string& path);
  /// Opens it. Errors: InputError with path and place; of a team also NeedsOneProcess, in all.
  std::unique_ptr<EventSource> (*open)(const std::string& path, const InputOptions& options);
};

/// All formats, in the order in which they are asked; OTF2, which takes what nobody recognises,
/// last.
const std::vector<const InputFormat*>& input_formats();
/// Makes one more format known, which is asked first. Not while traces are opened.
void add_input_format(const InputFormat& format);

/// Opens a recorded run of any format. Errors: InputError; of a team also NeedsOneProcess, in all.
std::unique_ptr<EventSource> open_trace(const std::string& path, const InputOptions& options = {});

}  // namespace rubato
