#pragma once

// Sources of calls. A format has one EventSource and one InputFormat. The built-in formats are in
// input_format.cc; programs that use the library can add theirs with add_input_format().

#include <memory>
#include <string>
#include <vector>

#include "replay/trace/input_options.h"
#include "replay/trace/trace.h"

namespace rubato {

/// A kind of file, or directory, that holds a recorded run.
struct InputFormat {
  const char* name;
  const char* doc;  ///< a short description: what it is and how it is recognised
  /// True if `path` is meant to be of this format, good or bad.
  bool (*recognises)(const std::string& path);
  /// Opens it. Errors: InputError with path and place; of a team also NeedsOneProcess, in all.
  std::unique_ptr<EventSource> (*open)(const std::string& path, const InputOptions& options);
};

/// All formats, in the order in which they are tried; OTF2, which takes all unrecognised paths, is
/// last.
const std::vector<const InputFormat*>& input_formats();
/// Adds a format, which is tried first. Must not be called while traces are opened.
void add_input_format(const InputFormat& format);

/// Opens a recorded run of any format. Errors: InputError; of a team also NeedsOneProcess, in all.
std::unique_ptr<EventSource> open_trace(const std::string& path, const InputOptions& options = {});

}  // namespace rubato
