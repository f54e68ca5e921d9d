#pragma once

#include <string>

namespace rubato {

/// `directory` under a name that can be part of LD_PRELOAD: the loader takes a list of paths apart
/// at blanks and colons, and replaces what begins with '$'. Where the name has one of these, it is
/// a symbolic link of this user's in TMPDIR, /tmp or another such place, made where there is none
/// yet, and left for the next run. Errors: InputError where no link can be made.
std::string preload_directory(const std::string& directory);

}  // namespace rubato
