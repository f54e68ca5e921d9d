#pragma once

#include <string>

namespace rubato {

/// Opens /dev/null in place of closed standard streams, so that no other file gets their
/// descriptors and receives output meant for them. To be called before any file is opened.
void open_standard_streams();

/// Prints a text for people, through terminal_text() and, if wants_ascii(), ascii_text(). Errors:
/// InputError if it cannot be written completely, for example on a full disk. A closed pipe (`|
/// head`) is no error: the command continues and writes its files.
void print_to_stdout(const std::string& text);
/// The same for CSV or JSON, unchanged; on a terminal through terminal_text(). A part may end
/// anywhere.
void print_data(const std::string& text);
/// Flushes standard output. Errors: as print_to_stdout(), for output printed by other means.
void flush_stdout();
/// True if print_to_stdout() wrote to a closed pipe. The process should then end by SIGPIPE, as
/// other programs do.
bool nobody_reads_stdout();

/// Prints `line` (without a line end) on standard error, as one line even if it contains line ends.
/// Write errors are ignored, because there is nowhere to report them.
void print_to_stderr(const std::string& line);
/// On a terminal, replaces the previous progress line; elsewhere does nothing.
void show_progress(const std::string& line);

}  // namespace rubato
