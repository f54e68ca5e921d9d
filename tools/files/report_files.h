#pragma once

#include <boost/program_options.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/files/whole_file.h"

namespace rubato {

/// The reports that a run is asked to write besides its tables: `--json FILE` and others alike, of
/// which one may be '-', standard output, where nothing appears before commit(). Files are created
/// before the replay, so that a directory that does not exist is not noticed after an hour.
class ReportFiles {
 public:
  /// `options`: names of the options that name files. Errors: UsageError where one names nothing,
  /// two the same, or one a part of `archive`; InputError as WholeFile.
  ReportFiles(const boost::program_options::variables_map& values,
              const std::vector<std::string>& options, const std::string& archive);

  /// False where a report goes to standard output instead of the tables.
  bool tables_wanted() const { return to_stdout_.empty(); }
  bool wants(const std::string& option) const;
  /// More of that report, which is wanted. Errors: InputError on a full disk.
  void write(const std::string& option, const std::string& text);
  /// All reports are complete.
  void commit();

 private:
  struct Close {
    void operator()(FILE* file) const { fclose(file); }
  };

  /// What stands on standard output is complete, as files are, and need not fit into memory.
  void hold(const std::string& text);
  void print_held();

  std::string to_stdout_;  ///< the option whose value is "-"
  std::unique_ptr<FILE, Close> held_;
  std::vector<std::pair<std::string, std::unique_ptr<WholeFile>>> files_;
};

}  // namespace rubato
