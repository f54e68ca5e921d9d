#pragma once

#include <string>

namespace rubato {

/// All of a text file, or of a pipe. `what` names it in messages, "a platform file"; it has `most`
/// bytes at most. Errors: InputError with the path and the reason.
std::string text_of_file(const std::string& path, const std::string& what, size_t most);

}  // namespace rubato
