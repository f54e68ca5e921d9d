#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/observe/call_profile.h"
#include "replay/observe/kept_losses.h"
#include "replay/run/replay_options.h"
#include "tools/options/options.h"

namespace rubato {

/// What commands that replay an archive have in common on the command line: the archive, scenarios,
/// and how it is read and replayed.

/// Adds those of the last kind, such as --polling, as a group of their own.
void add_engine_options(boost::program_options::options_description& options);

/// --clocks alone, for commands that read an archive without replaying it.
void add_clocks(boost::program_options::options_description& options);
/// What it says. Errors: UsageError.
void read_clocks(const boost::program_options::variables_map& values, ReplayOptions& options);

/// What they say; all else is as ReplayOptions has it. Errors: UsageError.
ReplayOptions engine_options(const boost::program_options::variables_map& values);

/// Those that were given and change results, as words for a shell: "--overhead outside=30us"; ""
/// without any.
std::string engine_words(const boost::program_options::variables_map& values);

/// The only "archive". Errors: UsageError with the usage of the command.
std::string one_archive(const boost::program_options::variables_map& values,
                        const CommandHelp& help);

/// One scenario, with the platforms that Rubato brings along. Errors: as parse_scenario().
Scenario named_scenario(const std::string& text);

/// The same for studies that vary the machine: dr=fit is refused. Errors: as parse_scenario().
Scenario fixed_scenario(const std::string& text);

/// The scenarios of all --on; empty without one. Errors: likewise; UsageError where two have the
/// same name.
std::vector<Scenario> named_scenarios(const boost::program_options::variables_map& values);

/// What of the recording CallProfile finds in a replay of `scenario`.
KeptInScenario kept_in(const Scenario& scenario, const ReplayOptions& options,
                       const TraceDefinitions& trace);

/// The text of an option; "" where it was not given.
std::string text_of(const boost::program_options::variables_map& values, const std::string& name);

}  // namespace rubato
