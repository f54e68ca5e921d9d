#pragma once

#include <string>

namespace rubato {

/// The contents of a text file or a pipe, at most `most` bytes. `what` names it in messages, such
/// as "a platform file". Errors: InputError with the path and the reason.
std::string text_of_file(const std::string& path, const std::string& what, size_t most);

}  // namespace rubato
