#pragma once

#include <string>

namespace rubato {

/// Why the loader will not preload a library into a program, as in "is statically linked"; empty
/// where it will, and for what is no executable of this machine's kind (a script).
std::string why_not_preloaded(const std::string& program);

}  // namespace rubato
