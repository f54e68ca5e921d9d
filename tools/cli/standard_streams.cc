#include "tools/cli/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

#include "models/base/error.h"
#include "tools/cli/no_pipe_signal.h"
#include "tools/cli/terminal_text.h"

namespace rubato {
namespace {

bool reader_left = false;

void give_up() {
  if (errno != EPIPE) throw InputError("standard output cannot be written");
  reader_left = true;
  // Discard the rest of the buffer and all later output.
  if (!freopen("/dev/null", "w", stdout)) throw InputError("standard output cannot be written");
}

void write_all(const std::string& text) {
  const NoPipeSignal quiet;
  if (fwrite(text.data(), 1, text.size(), stdout) != text.size() || fflush(stdout) != 0) give_up();
}

void write_error(const std::string& text) {
  const NoPipeSignal quiet;
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = ::write(STDERR_FILENO, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    done += static_cast<size_t>(count);
  }
}

}  // namespace

void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // open() takes the lowest number that is free: this one.
    if (fcntl(stream, F_GETFD) < 0 && errno == EBADF && open("/dev/null", O_RDWR) != stream)
      _exit(1);
  }
}

void print_to_stdout(const std::string& text) {
  const std::string clean = terminal_text(text);
  write_all(wants_ascii() ? ascii_text(clean) : clean);
}

void print_data(const std::string& text) {
  static const bool terminal = isatty(STDOUT_FILENO) != 0;
  write_all(terminal ? terminal_text(text) : text);
}

void flush_stdout() {
  const NoPipeSignal quiet;
  if (ferror(stdout) != 0 || fflush(stdout) != 0) give_up();
}

bool nobody_reads_stdout() {
  return reader_left;
}

void print_to_stderr(const std::string& line) {
  const std::string clean = one_line(line) + "\n";
  write_error(wants_ascii() ? ascii_text(clean) : clean);
}

void show_progress(const std::string& line) {
  static const bool terminal = isatty(STDERR_FILENO) != 0;
  if (terminal) write_error("\r\033[K" + one_line(line));
}

}  // namespace rubato
