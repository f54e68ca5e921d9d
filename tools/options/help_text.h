#pragma once

#include <boost/program_options.hpp>
#include <string>

namespace rubato {

/// The text of `rubato COMMAND --help` around the list of options. Lines that begin with a blank
/// are kept, at most 80 columns; the others are prose and are filled.
struct CommandHelp {
  std::string usage;    ///< "rubato replay ARCHIVE --on SCENARIO... [options]"
  std::string summary;  ///< one paragraph
  std::string epilog;   ///< examples and notes; may be empty
};

/// The help for a terminal, in lines of at most 80 columns.
std::string help_for_terminal(const CommandHelp& help,
                              const boost::program_options::options_description& options);

/// The same as the sections of a manual page that follow NAME, in roff (man(7)).
std::string help_for_man(const CommandHelp& help,
                         const boost::program_options::options_description& options);

/// The same for shell completion: a line for each option with its name ("--on"), the name of its
/// value (may be empty) and its description, separated by tabs. Short forms have lines of their
/// own.
std::string help_for_shells(const boost::program_options::options_description& options);

/// `text` escaped for roff, so that no character is interpreted as a request.
std::string roff(const std::string& text);
/// `text` in roff: lines that begin with a blank are kept, the others filled.
std::string roff_paragraphs(const std::string& text);

}  // namespace rubato
