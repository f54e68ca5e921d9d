#pragma once

#include <boost/program_options.hpp>
#include <string>

#include "tools/cli/commands.h"
#include "tools/options/help_text.h"

namespace rubato {

/// Parses the arguments of one command. Options come from `visible`; other words are stored under
/// `positional` (any number; "" = none allowed). With `stop_at_positional`, all words from the
/// first positional one on are stored there unparsed (`rubato trace ./app -x`). On --help,
/// --help=man and --help=shells, prints the help in that form (help_text.h) and returns false.
/// Errors: UsageError, with the nearest option for an unknown one.
bool parse_options(const Arguments& arguments, const CommandHelp& help,
                   const boost::program_options::options_description& visible,
                   const std::string& positional, bool stop_at_positional,
                   boost::program_options::variables_map& values);

/// The integer value of an option. Errors: UsageError if it is out of range.
int number_in(const boost::program_options::variables_map& values, const char* option, int least,
              int most);

}  // namespace rubato
