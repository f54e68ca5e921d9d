#pragma once

#include <span>
#include <string>
#include <vector>

namespace rubato {

/// The subcommands of `rubato`. Each takes the arguments after its name and returns the exit code
/// (0 success, 1 bad input, 2 bad command line). Errors: InputError and UsageError, which main()
/// prints.
using Arguments = std::vector<std::string>;

/// A row in the list of `rubato --help`.
struct Command {
  const char* name;
  const char* summary;  ///< half a line
  int (*run)(const Arguments&);
};
/// All commands, in the order in which a new user needs them.
std::span<const Command> commands();
/// The command called `name`; null if there is none.
const Command* command_named(const std::string& name);

int command_trace(const Arguments& arguments);
int command_recover(const Arguments& arguments);
int command_advise(const Arguments& arguments);
int command_calibrate(const Arguments& arguments);
int command_check(const Arguments& arguments);
int command_compare(const Arguments& arguments);
int command_diff(const Arguments& arguments);
int command_doctor(const Arguments& arguments);
int command_export(const Arguments& arguments);
int command_fit(const Arguments& arguments);
int command_import(const Arguments& arguments);
int command_help(const Arguments& arguments);
int command_info(const Arguments& arguments);
int command_place(const Arguments& arguments);
int command_platforms(const Arguments& arguments);
int command_profile(const Arguments& arguments);
int command_replay(const Arguments& arguments);
int command_tolerance(const Arguments& arguments);

}  // namespace rubato
