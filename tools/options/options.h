#pragma once

#include <boost/program_options.hpp>
#include <string>

#include "tools/cli/commands.h"
#include "tools/options/help_text.h"

namespace rubato {

/// Parses the words of one command. Options come from `visible`; other words go to the option named
/// `positional` (of any count; "" = none allowed). With `stop_at_positional` everything from the
/// first such word on goes there untouched (`rubato trace ./app -x`). Prints the help and returns
/// false on --help; likewise for the one word --help=man or --help=shells, in that form
/// (help_text.h). Errors: UsageError with the nearest option for an unknown one.
bool parse_options(const Arguments& arguments, const CommandHelp& help,
                   const boost::program_options::options_description& visible,
                   const std::string& positional, bool stop_at_positional,
                   boost::program_options::variables_map& values);

/// The whole number of an option. Errors: UsageError outside of the range.
int number_in(const boost::program_options::variables_map& values, const char* option, int least,
              int most);

}  // namespace rubato
