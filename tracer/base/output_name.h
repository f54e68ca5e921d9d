#pragma once

#include <string>

/// The directory of an archive where something has that name already, such as the archive of the
/// run before: run.otf2dir, run-2.otf2dir, run-3.otf2dir, ..., the first that is free.
namespace rubato {
inline namespace tracing {

inline constexpr int kMostOutputs = 100000;

/// The number-th of these names, from 1. A name without extension gets the number behind it.
std::string numbered_output(const std::string& output, int number);

/// There is a file, a directory or a symbolic link of that name.
bool is_taken(const std::string& name);

/// The first of these names that is free.
std::string free_output(const std::string& output);
/// The name before that; `output` itself if that is free.
std::string last_output(const std::string& output);

}  // namespace tracing
}  // namespace rubato
