#pragma once

#include <string>

namespace rubato {

/// Opens /dev/null in place of standard streams that are closed, so that no file of ours gets their
/// numbers, and reports go into it. Before anything is opened.
void open_standard_streams();

/// Prints all of a text for people (terminal_text(), and ascii_text() where it is wanted), or
/// throws: a full disk behind `rubato info >file` is an error too. A reader that has seen enough
/// (`| head`) is none: the command goes on and writes its files. Errors: InputError.
void print_to_stdout(const std::string& text);
/// The same of CSV or JSON, as it is; on a terminal terminal_text(). Parts may end anywhere.
void print_data(const std::string& text);
/// Throws what print_to_stdout() would if something printed otherwise cannot be written.
void flush_stdout();
/// True when print_to_stdout() found a closed reader. The process should then end by SIGPIPE, as
/// others do.
bool nobody_reads_stdout();

/// Prints a line, without its end, on standard error: one line, whatever stands in it. What cannot
/// be written there is lost; there is nowhere else to say so.
void print_to_stderr(const std::string& line);
/// For a person who watches: replaces the line of before on a terminal; elsewhere nothing.
void show_progress(const std::string& line);

}  // namespace rubato
