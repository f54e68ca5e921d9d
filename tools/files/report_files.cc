#include "tools/files/report_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "models/base/error.h"
#include "tools/cli/standard_streams.h"
#include "tools/files/archive_guard.h"

namespace rubato {

namespace {

[[noreturn]] void refuse_to_hold() {
  throw InputError(
      fmt::format("the temporary file for a report to standard output cannot be written: {}",
                  std::strerror(errno)));
}

}  // namespace

ReportFiles::ReportFiles(const boost::program_options::variables_map& values,
                         const std::vector<std::string>& options,
                         const std::vector<std::string>& inputs) {
  std::set<std::string> names;
  for (const std::string& option : options) {
    if (!values.count(option)) continue;
    const auto& path = values[option].as<std::string>();
    if (path.empty()) throw UsageError(fmt::format("--{}: the file name is empty", option));
    if (!names.insert(path).second)
      throw UsageError(fmt::format("{}: two reports cannot be written to the same file", path));
    if (path == "-") {
      to_stdout_ = option;
      continue;
    }
    for (const std::string& input : inputs) {
      refuse_archive_part(path, input);
      keep_input(input, path);
    }
    files_.emplace_back(option, std::make_unique<WholeFile>(path));
  }
}

bool ReportFiles::wants(const std::string& option) const {
  return to_stdout_ == option || std::any_of(files_.begin(), files_.end(), [&](const auto& file) {
           return file.first == option;
         });
}

void ReportFiles::write(const std::string& option, const std::string& text) {
  if (to_stdout_ == option) hold(text);
  for (auto& [name, file] : files_) {
    if (name == option) file->write(text);
  }
}

void ReportFiles::hold(const std::string& text) {
  if (!held_) held_.reset(std::tmpfile());
  if (!held_ || fwrite(text.data(), 1, text.size(), held_.get()) != text.size()) refuse_to_hold();
}

void ReportFiles::print_held() {
  if (!held_) return;
  if (fflush(held_.get()) != 0) refuse_to_hold();
  rewind(held_.get());
  std::string part(size_t{1} << 16, '\0');
  for (;;) {
    part.resize(part.capacity());
    part.resize(fread(part.data(), 1, part.size(), held_.get()));
    if (part.empty()) break;
    print_data(part);
  }
  if (ferror(held_.get())) refuse_to_hold();
  held_.reset();
}

void ReportFiles::commit() {
  print_held();
  for (auto& [name, file] : files_) file->commit();
}

}  // namespace rubato
