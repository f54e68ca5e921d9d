#include <fmt/core.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "models/base/error.h"
#include "tools/cli/commands.h"
#include "tools/cli/standard_streams.h"
#include "tools/doctor/checks.h"
#include "tools/files/report_files.h"
#include "tools/format/json_text.h"
#include "tools/format/numbers.h"
#include "tools/format/text_table.h"
#include "tools/launch/flavour.h"
#include "tools/options/options.h"
#include "tools/report/report_json.h"
#include "tracer/recover/leftovers.h"
#include "tracer/recover/recover.h"

namespace po = boost::program_options;

namespace rubato {
namespace {

constexpr const char* kStates[] = {"ok", "warn", "fail"};

/// A directory that is removed again.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    path_ = (std::filesystem::temp_directory_path() / "rubato-doctor-XXXXXX").string();
    if (!mkdtemp(path_.data()))
      throw InputError(path_ + ": no directory can be created; set TMPDIR");
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Check leftover_check() {
  uint64_t jobs = 0;
  double bytes = 0;
  try {
    for (const Leftover& left : find_leftovers({})) {
      if (left.state == RecordState::kRunning) continue;
      ++jobs;
      bytes += static_cast<double>(left.bytes);
    }
  } catch (const RecoverError& error) {
    return {"leftovers", Check::kWarn, error.what(), ""};
  }
  if (jobs == 0) return {"leftovers", Check::kOk, "no records of ended runs", ""};
  return {
      "leftovers", Check::kWarn,
      fmt::format("records of {}, {}", counted(jobs, "ended run", "ended runs"), show_bytes(bytes)),
      "'rubato recover --list' tells how to recover or discard them"};
}

/// "ok    clock   time-stamp counter", wrapped; below it what to do.
std::string text_of(const std::vector<Check>& checks, int width) {
  size_t longest = 0;
  for (const Check& check : checks) longest = std::max(longest, check.name.size());
  const std::string indent(6 + longest + 2, ' ');
  std::string text;
  for (const Check& check : checks) {
    const int left = width - static_cast<int>(indent.size());
    std::istringstream lines(wrap(check.found, left, 0) +
                             (check.advice.empty() ? "" : wrap("-> " + check.advice, left, 3)));
    std::string start = fmt::format("{:<4}  {:<{}}  ", kStates[check.state], check.name, longest);
    for (std::string line; std::getline(lines, line); start = indent) text += start + line + "\n";
  }
  return text;
}

std::string json_of(const std::vector<Check>& checks) {
  Json list = Json::array();
  for (const Check& check : checks) {
    list.push_back({{"name", check.name},
                    {"state", kStates[check.state]},
                    {"found", check.found},
                    {"advice", json_text::text_or_null(check.advice)}});
  }
  return json_file({{"checks", std::move(list)}});
}

}  // namespace

int command_doctor(const Arguments& arguments) {
  // A process that mpi_checks() starts.
  if (arguments.size() == 2 && arguments[0] == "answer") return answer_as_mpi_process(arguments[1]);
  po::options_description options("Options");
  options.add_options()(
      "json", po::value<std::string>()->value_name("FILE"),
      "write the checks as JSON (share/doc/json.md); '-': to standard output instead of the text")(
      "help,h", "show this help");
  const CommandHelp help = {
      "rubato doctor [--json FILE]",
      "Checks whether this machine can trace: starts a traced process with each MPI library, and\n"
      "looks at memory for records, performance counters, clock, cores and records that killed "
      "runs\n"
      "left. Each line begins with ok, warn or fail, and ends with what to do. Exit code 1 if "
      "tracing\n"
      "cannot work.",
      "  rubato doctor\n"
      "  srun -N 1 -n 1 rubato doctor        (on a node of the cluster)"};
  po::variables_map values;
  if (!parse_options(arguments, help, options, "", false, values)) return 0;
  if (launcher_flavour() != Flavour::kUnknown)
    throw UsageError("mpirun is not needed: 'rubato doctor' starts one itself");
  ReportFiles files(values, {"json"}, {});
  std::vector<Check> checks = mpi_checks(TemporaryDirectory().path());
  for (Check (*check)() : {memory_check, counter_check, clock_check, core_check, leftover_check})
    checks.push_back(check());
  if (files.tables_wanted()) print_to_stdout(text_of(checks, page_width()));
  if (files.wants("json")) files.write("json", json_of(checks));
  files.commit();
  return std::any_of(checks.begin(), checks.end(),
                     [](const Check& check) { return check.state == Check::kFail; });
}

}  // namespace rubato
