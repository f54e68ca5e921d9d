#pragma once

#include <string>

namespace rubato {

/// `word` quoted for a shell if necessary, for commands in messages.
std::string shell_quoted(const std::string& word);

}  // namespace rubato
