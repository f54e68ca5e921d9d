#pragma once

#include <string>
#include <vector>

namespace rubato {

/// Platform files that come with Rubato lie in one directory and are called by their names without
/// ".toml" (`--on infiniband-hdr`).

/// The names, in alphabetical order, numbers by their value (10g before 100g). Empty when there is
/// no such directory.
std::vector<std::string> preset_names(const std::string& directory);

/// The file of the preset `name`; "" when there is none.
std::string preset_path(const std::string& directory, const std::string& name);

}  // namespace rubato
