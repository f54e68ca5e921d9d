#pragma once

#include <string>

namespace rubato {

/// Refuses what is given by mistake in place of a platform file, with what to do instead: a file of
/// samples, an archive, a platform of SimGrid, JSON, a program. Errors: InputError.
void refuse_other_kinds(const std::string& text, const std::string& path);

}  // namespace rubato
