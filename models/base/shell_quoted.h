#pragma once

#include <string>

namespace rubato {

/// `word` as a shell takes it, for commands that messages offer: in quotes where it needs them.
std::string shell_quoted(const std::string& word);

}  // namespace rubato
