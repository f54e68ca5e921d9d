#pragma once

#include <memory>
#include <string>

#include "replay/trace/trace.h"

namespace rubato {

/// Calls written by hand, for tests, examples and bug reports: share/doc/text-traces.md has the
/// grammar. Errors: InputError with `origin` and the line.
std::unique_ptr<EventSource> parse_text_trace(const std::string& text,
                                              const std::string& origin = "trace");

}  // namespace rubato
