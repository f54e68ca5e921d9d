#pragma once

#include <string>

namespace rubato {

/// The reason why a preloaded library will not see what a program calls of MPI: "is statically
/// linked", "has MPI linked in statically", ...; empty if it will, and for files that are no
/// executable of this machine (a script).
std::string why_not_preloaded(const std::string& program);

}  // namespace rubato
