#pragma once

#include <string>

namespace rubato {

/// The reason why the loader will not preload a library into a program, such as "is statically
/// linked"; empty if it will, and for files that are no executable of this machine (a script).
std::string why_not_preloaded(const std::string& program);

}  // namespace rubato
