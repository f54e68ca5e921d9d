#include "tools/report_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "models/error.h"
#include "tools/archive_guard.h"

namespace rubato {

ReportFiles::ReportFiles(const boost::program_options::variables_map& values,
                         const std::vector<std::string>& options, const std::string& archive) {
  std::set<std::string> names;
  for (const std::string& option : options) {
    if (!values.count(option)) continue;
    const auto& path = values[option].as<std::string>();
    if (path.empty()) throw UsageError(fmt::format("--{}: the name of the file is empty", option));
    if (!names.insert(path).second)
      throw UsageError(fmt::format("{}: two reports cannot be written to one file", path));
    if (path == "-") {
      to_stdout_ = option;
      continue;
    }
    refuse_archive_part(path, archive);
    files_.emplace_back(option, std::make_unique<WholeFile>(path));
  }
}

bool ReportFiles::wants(const std::string& option) const {
  return to_stdout_ == option || std::any_of(files_.begin(), files_.end(), [&](const auto& file) {
           return file.first == option;
         });
}

void ReportFiles::write(const std::string& option, const std::string& text) {
  if (to_stdout_ == option) print_data(text);
  for (auto& [name, file] : files_) {
    if (name == option) file->write(text);
  }
}

void ReportFiles::commit() {
  for (auto& [name, file] : files_) file->commit();
}

}  // namespace rubato
