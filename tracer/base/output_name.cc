#include "tracer/base/output_name.h"

#include <sys/stat.h>

namespace rubato {
inline namespace tracing {
namespace {

/// The number of the first name that is free.
int first_free(const std::string& output) {
  int number = 1;
  while (number < kMostOutputs && is_taken(numbered_output(output, number))) ++number;
  return number;
}

}  // namespace

std::string numbered_output(const std::string& output, int number) {
  if (number <= 1) return output;
  const size_t name = output.rfind('/') + 1;  // npos + 1 is 0
  const size_t dot = output.rfind('.');
  const bool has_extension = dot != std::string::npos && dot > name;
  const size_t end = has_extension ? dot : output.size();
  return output.substr(0, end) + "-" + std::to_string(number) + output.substr(end);
}

bool is_taken(const std::string& name) {
  struct stat info;
  return lstat(name.c_str(), &info) == 0;
}

std::string free_output(const std::string& output) {
  return numbered_output(output, first_free(output));
}

std::string last_output(const std::string& output) {
  return numbered_output(output, first_free(output) - 1);
}

}  // namespace tracing
}  // namespace rubato
