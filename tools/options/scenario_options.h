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

/// Command line options shared by the commands that replay an archive: the archive, scenarios, and
/// options of reading and replaying.

/// Adds the options of reading and replaying, such as --polling, as a group.
void add_engine_options(boost::program_options::options_description& options);

/// Adds --clocks only, for commands that read an archive without replaying it.
void add_clocks(boost::program_options::options_description& options);
/// Reads --clocks into `options`. Errors: UsageError.
void read_clocks(const boost::program_options::variables_map& values, ReplayOptions& options);

/// The values of these options; others are default. Errors: UsageError.
ReplayOptions engine_options(const boost::program_options::variables_map& values);

/// The given options that change results, quoted for a shell: "--overhead outside=30us"; "" without
/// any.
std::string engine_words(const boost::program_options::variables_map& values);

/// The single positional "archive". Errors: UsageError with the usage of the command.
std::string one_archive(const boost::program_options::variables_map& values,
                        const CommandHelp& help);

/// Parses a scenario, which may name a built-in platform. Errors: as parse_scenario().
Scenario named_scenario(const std::string& text);

/// The same for studies that vary the machine: dr=fit is refused. Errors: as parse_scenario().
Scenario fixed_scenario(const std::string& text);
/// Refuses dr=fit. Throws: UsageError.
void refuse_fit(const Scenario& scenario);

/// The scenarios of all --on; empty without --on. Errors: as parse_scenario(); UsageError if two
/// have the same name.
std::vector<Scenario> named_scenarios(const boost::program_options::variables_map& values);

/// The archive and the files that scenarios name: platforms, hosts, networks.
std::vector<std::string> input_files(const std::string& archive,
                                     const std::vector<Scenario>& scenarios);

/// The parts of the recording that CallProfile still finds in a replay of `scenario`.
KeptInScenario kept_in(const Scenario& scenario, const ReplayOptions& options,
                       const TraceDefinitions& trace);

/// The text of an option; "" if it was not given.
std::string text_of(const boost::program_options::variables_map& values, const std::string& name);

}  // namespace rubato
