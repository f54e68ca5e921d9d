// Archives of real programs (tests/bench/real_archives.sh), whose calls do not repeat themselves as
// those of made archives do. Their ranks ran on one node, so the calibrated file needs no ppn=1.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "bars.h"
#include "replays.h"
#include "rows.h"

namespace {

/// Threads have to be merged, and polls to be looked at one by one.
double allowed_times_bare(const std::string& archive) {
  return archive.starts_with("graph") || archive.starts_with("threads") ? 3 : 2;
}

void measure(const Choice& choice, const std::string& archive, const std::string& name,
             const Machine& machine) {
  const std::string row = "real/" + name + "/" + machine.name;
  if (!choice.takes(row)) return;
  Figures figures{.name = row};
  Turns turns;
  add(turns, figures, archive, machine, {true, true, false, true, false, true});
  turns.run();
  print_row(figures);
  expect_at_most(row + ": 1 scenario / bare decode", figures.times_bare(),
                 allowed_times_bare(name));
  expect_at_most(row + ": peak MB", figures.one.megabytes, figures.megabytes_allowed());
  expect_at_most(row + ": 16 scenarios / 1", figures.times_one(figures.sixteen), 2);
  expect_at_most(row + ": with wait states / without", figures.times_one(figures.one_waits), 1.3);
}

}  // namespace

void real_rows(const Choice& choice, const std::string& directory) {
  namespace fs = std::filesystem;
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().extension() == ".otf2dir") names.push_back(entry.path().stem());
  }
  if (names.empty()) {
    std::fprintf(stderr, "rubato-bench: there is no archive *.otf2dir in %s; make some with %s\n",
                 directory.c_str(), "tests/bench/real_archives.sh");
    std::exit(1);
  }
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    for (const Machine& machine : {perfect(), infiniband(), calibrated()})
      measure(choice, directory + "/" + name + ".otf2dir", name, machine);
  }
}
