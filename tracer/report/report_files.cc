#include "tracer/report/report_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <vector>

#include "tracer/base/file_limit.h"
#include "tracer/base/output_name.h"
#include "tracer/report/report_page.h"
#include "tracer/report/report_tables.h"

namespace rubato {
inline namespace tracing {
namespace {

bool write_file(const std::string& name, const std::string& text) {
  FILE* const file = std::fopen(name.c_str(), "wbe");
  if (file == nullptr) return false;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int error = errno;
  const bool closed = std::fclose(file) == 0;
  if (!written) errno = error;
  return written && closed;
}

}  // namespace

std::string write_report_files(const JobReport& job, const std::string& directory) {
  const NoFileSizeSignal quiet;
  const std::string partial = directory + "." + std::to_string(getpid()) + ".part";
  if (mkdir(partial.c_str(), 0777) != 0) return "";
  std::vector<std::string> files;
  const auto write = [&](const std::string& name, const std::string& text) {
    files.push_back(partial + "/" + name);
    return write_file(files.back(), text);
  };
  bool good = write_tables(job, write) && write("index.html", report_page(job));
  std::string name;
  for (int number = 1; good && name.empty() && number <= kMostOutputs; ++number) {
    const std::string next = numbered_output(directory, number);
    if (is_taken(next)) continue;
    if (std::rename(partial.c_str(), next.c_str()) == 0) {
      name = next;
    } else if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR) {
      good = false;
    }
  }
  if (!name.empty()) return name;
  const int error = errno;
  for (const std::string& file : files) unlink(file.c_str());
  rmdir(partial.c_str());
  errno = error;
  return "";
}

}  // namespace tracing
}  // namespace rubato
