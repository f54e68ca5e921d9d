#pragma once

#include <cstdint>
#include <string>
#include <vector>

// The rows of the table, by topic. Each is printed as soon as it is measured; expected values are
// registered with bars.h.

/// Which of them are made, and how.
struct Choice {
  std::vector<std::string> only;  ///< those with one of these in their name; all when empty
  bool list = false;              ///< print their names and measure nothing
  bool quick = false;             ///< shorter archives; what takes longest is left out

  /// True where the row is to be measured now.
  bool takes(const std::string& name) const;
  /// The number of calls, halved for quick runs: in shorter archives the time to open them would
  /// dominate.
  uint64_t calls(uint64_t count) const { return quick ? count / 2 : count; }
};

/// `scaling/...`: made archives on bandela: ranks, chunks, patterns, many scenarios, wait states, a
/// receive that stays open.
void scaling_rows(const Choice& choice);

/// `platform/...`: the regular halo on three machines, with messages below and above what they send
/// at once.
void platform_rows(const Choice& choice);

/// `command/...`: `rubato replay` as users type it, with and without a page.
void command_rows(const Choice& choice);

/// `real/...`: what tests/bench/real_archives.sh traced into `directory`, on three machines.
void real_rows(const Choice& choice, const std::string& directory);

/// `simgrid/...`: halos and alltoalls beside SimGrid's replay of the same, where it is installed;
/// `shared/...`: on networks with a shape, ours alone.
void simgrid_rows(const Choice& choice);
