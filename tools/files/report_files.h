#pragma once

#include <boost/program_options.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/files/whole_file.h"

namespace rubato {

/// The report files of a command (`--json FILE` etc.). One name may be '-', standard output, to
/// which nothing is written before commit(). Files are created before the replay, so that a missing
/// directory is reported at once and not after an hour.
class ReportFiles {
 public:
  /// `options`: the options whose values are files. Errors: UsageError if a name is empty, used
  /// twice or a part of an archive of `inputs`; InputError if it is one of them, or as WholeFile.
  ReportFiles(const boost::program_options::variables_map& values,
              const std::vector<std::string>& options, const std::vector<std::string>& inputs);

  /// False if a report goes to standard output instead of the tables.
  bool tables_wanted() const { return to_stdout_.empty(); }
  bool wants(const std::string& option) const;
  /// Appends to a wanted report. Errors: InputError, for example on a full disk.
  void write(const std::string& option, const std::string& text);
  /// To be called when all reports are complete: makes them visible.
  void commit();

 private:
  struct Close {
    void operator()(FILE* file) const { fclose(file); }
  };

  /// A report to standard output is held in a temporary file until commit(): it need not fit into
  /// memory.
  void hold(const std::string& text);
  void print_held();

  std::string to_stdout_;  ///< the option whose value is "-"
  std::unique_ptr<FILE, Close> held_;
  std::vector<std::pair<std::string, std::unique_ptr<WholeFile>>> files_;
};

}  // namespace rubato
