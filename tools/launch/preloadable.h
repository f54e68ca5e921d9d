#pragma once

#include <string>

namespace rubato {

/// The reason why a preloaded library cannot intercept the MPI calls of a program: "is statically
/// linked", "has MPI linked in statically", ...; empty if it can, and for files that are not
/// executables of this machine (a script).
std::string why_not_preloaded(const std::string& program);

}  // namespace rubato
