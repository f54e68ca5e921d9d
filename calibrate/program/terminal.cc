#include "calibrate/program/terminal.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <string>

namespace rubato {
namespace {

/// True for the names of mpirun in Open MPI, MPICH, PRRTE and Slurm, and in Debian's alternatives
/// (mpirun.mpich).
bool is_launcher(const std::string& name) {
  constexpr std::array<const char*, 5> kNames = {"mpirun", "mpiexec", "orterun", "prterun", "srun"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [&](const char* known) { return name.starts_with(known); });
}

/// "12 (name) S 7 ...": the parent's number; 0 where there is none. Names may hold anything.
int parent_of(const std::string& process) {
  std::ifstream file(process + "/stat");
  std::string text;
  std::getline(file, text);
  const size_t end = text.rfind(") ");
  if (end == std::string::npos || text.size() < end + 5) return 0;
  return std::atoi(text.c_str() + end + 4);
}

std::string name_of_process(const std::string& process) {
  std::ifstream file(process + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

}  // namespace

int watched_terminal() {
  if (isatty(STDERR_FILENO)) return STDERR_FILENO;
  constexpr int kMostAncestors = 4;  // a proxy may be between the launcher and its ranks
  int parent = getppid();
  for (int i = 0; i < kMostAncestors && parent > 1; ++i) {
    const std::string process = "/proc/" + std::to_string(parent);
    if (is_launcher(name_of_process(process))) {
      // O_NOCTTY: it does not become the controlling terminal. O_NONBLOCK: no wait if it is blocked
      // (Ctrl-S, a named pipe without a reader).
      const int terminal =
          open((process + "/fd/2").c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
      if (terminal < 0 || isatty(terminal)) return terminal;
      close(terminal);
      return -1;
    }
    parent = parent_of(process);
  }
  return -1;
}

}  // namespace rubato
