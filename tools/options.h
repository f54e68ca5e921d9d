#pragma once

#include <boost/program_options.hpp>
#include <string>

#include "tools/commands.h"

namespace rubato {

/// The text of `rubato COMMAND --help` around the list of options.
struct CommandHelp {
  std::string usage;    ///< "rubato replay ARCHIVE --on SCENARIO... [options]"
  std::string summary;  ///< one paragraph
  std::string epilog;   ///< examples and notes; may be empty
};

/// Parses the words of one command. Options come from `visible`; other words go to the option named
/// `positional` (of any count; "" = none allowed). With `stop_at_positional` everything from the
/// first such word on goes there untouched (`rubato trace ./app -x`). Prints the help and returns
/// false on --help. Errors: UsageError with the nearest option for an unknown one.
bool parse_options(const Arguments& arguments, const CommandHelp& help,
                   const boost::program_options::options_description& visible,
                   const std::string& positional, bool stop_at_positional,
                   boost::program_options::variables_map& values);

}  // namespace rubato
