#pragma once

#include <span>
#include <string>
#include <vector>

namespace rubato {

/// The subcommands of `rubato`. Each takes the words behind its name and returns the exit code
/// (0 done, 1 the input is bad, 2 the command line is bad). They throw InputError and UsageError,
/// which main() prints.
using Arguments = std::vector<std::string>;

/// A row of what `rubato --help` lists.
struct Command {
  const char* name;
  const char* summary;  ///< half a line
  int (*run)(const Arguments&);
};
/// All of them, in the order a new user needs them.
std::span<const Command> commands();
/// The one called `name`; null when there is none.
const Command* command_named(const std::string& name);

int command_trace(const Arguments& arguments);
int command_recover(const Arguments& arguments);
int command_advise(const Arguments& arguments);
int command_calibrate(const Arguments& arguments);
int command_check(const Arguments& arguments);
int command_compare(const Arguments& arguments);
int command_diff(const Arguments& arguments);
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
