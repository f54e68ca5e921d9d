#pragma once

#include <string>

namespace rubato {

/// A name of `directory` that can be used in LD_PRELOAD, whose paths the loader splits at blanks
/// and colons, and in which it expands '$'. If the name contains one of these, returns a symbolic
/// link in TMPDIR, /tmp or a similar directory, created if necessary and kept for the next run.
/// Errors: InputError if no link can be created.
std::string preload_directory(const std::string& directory);

}  // namespace rubato
