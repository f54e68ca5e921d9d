#pragma once

#include <boost/program_options.hpp>
#include <string>

namespace rubato {

/// What `rubato COMMAND --help` says around the list of options. Lines that begin with a blank stay
/// as they are, at most 80 columns; the others are prose, which is filled.
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

/// The same for shells that complete words: a line for each option, "--on", what it takes (empty:
/// nothing), and what it is for, with tabs between them. Short forms have lines of their own.
std::string help_for_shells(const boost::program_options::options_description& options);

/// `text` in roff, so that no character of it is taken for a request.
std::string roff(const std::string& text);
/// Lines of `text` that begin with a blank as they are, the others filled, in roff.
std::string roff_paragraphs(const std::string& text);

}  // namespace rubato
