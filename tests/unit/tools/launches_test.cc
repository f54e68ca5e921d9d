#include "tools/launch/launches.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "models/base/error.h"
#include "tools/calibration/launch_table.h"
#include "tools/launch/child.h"

using namespace rubato;
namespace fs = std::filesystem;

TEST_CASE("why a launch failed is found in what it printed") {
  CHECK(complaint_in("") == "");
  CHECK(complaint_in("-----------\n  There are no slots\nfor it\n") == "There are no slots");
  CHECK(complaint_in("noise\nrubato: error: it is broken\nmore\n") == "it is broken");
  CHECK(complaint_in("rubato: there is no option '--x'\n") == "there is no option '--x'");
}

TEST_CASE("a child is run to its end, or stopped") {
  const std::string log =
      (fs::temp_directory_path() / ("rubato-child-" + std::to_string(getpid()))).string();
  const auto run = [&](const std::string& script, const std::function<bool(double)>& watch,
                       double patience = 20) {
    return run_child({"/bin/sh", "-c", script}, log, watch, patience);
  };
  CHECK(run("echo out; echo err >&2; read line || echo nothing to read", {}).fine());
  std::ostringstream text;
  text << std::ifstream(log).rdbuf();
  CHECK(text.str() == "out\nerr\nnothing to read\n");
  CHECK(run("exit 3", {}).exit_code == 3);
  CHECK(run("exit 3", {}).text() == "exited with 3");
  CHECK(run("kill -9 $$", {}).signal == SIGKILL);
  // Once the shell has set its trap.
  const auto when_ready = [&](double) { return fs::exists(log) && fs::file_size(log) > 0; };
  // Both shells wait for what they started, a program that a signal ends too.
  const ChildEnd told =
      run("trap 'exit 0' TERM; echo ready; while :; do sleep 0.1; done", when_ready);
  CHECK(told.stopped);
  CHECK(!told.fine());
  const ChildEnd stubborn =
      run("trap '' TERM; echo ready; while :; do sleep 0.1; done", when_ready, 0);
  CHECK(stubborn.stopped);
  CHECK(stubborn.signal == SIGKILL);
  CHECK_THROWS_WITH(run_child({"/no/such/program"}, log, {}),
                    "/no/such/program cannot be started: No such file or directory");
  fs::remove(log);
}

TEST_CASE("the table of launches has medians, means and each launch") {
  // Launches of 1, 2 and 6 us: median 2, mean 3; s^2 = (4 + 1 + 9) / 2 = 7, standard error
  // sqrt(7 / 3) = 1.528, which is 50.9 % of the mean. 9 bytes are not shown, the largest size is.
  std::vector<SampleRow> rows;
  const double times[] = {1e-6, 2e-6, 6e-6};
  for (int launch = 1; launch <= 3; ++launch) {
    for (const double bytes : {8., 9., 100.}) {
      SampleRow row{"node", "pingpong", bytes, times[launch - 1]};
      row.launch = launch;
      rows.push_back(row);
    }
  }
  rows.pop_back();  // the third launch lacks 100 bytes: (1 + 2) / 2 = 1.5, s.e. 0.5 = 33.3 %
  // 8 bytes twice in the first launch: the median of 0.5 and 1.5 us is 1 us.
  rows.push_back(rows[0]);
  rows.front().seconds = 0.5e-6;
  rows.back().seconds = 1.5e-6;
  const std::string table =
      "node pingpong (µs)  Median   Mean       ±      1      2      3\n"
      "8 B                  2.000  3.000  50.9 %  1.000  2.000  6.000\n"
      "100 B                1.500  1.500  33.3 %  1.000  2.000\n\n";
  CHECK(sample_table(rows, OfLoops::kLeast, 100) == table);
  // Medians of loops, where some launches have them, are not mixed with minima.
  for (SampleRow& row : rows) row.median = row.launch == 2 ? 0 : 10 * row.seconds;
  CHECK(sample_table(rows, OfLoops::kLeast, 100) == table);
  for (SampleRow& row : rows) {
    row.median = row.seconds;
    row.seconds /= 2;
  }
  CHECK(sample_table(rows, OfLoops::kMedian, 100) == table);
}

TEST_CASE("the table of one launch has a row for each operation, and round sizes") {
  std::vector<SampleRow> rows;
  for (const double bytes : {8., 9., 32768.}) rows.push_back({"node", "pingpong", bytes, 1e-6});
  rows.back().seconds = 12e-6;
  rows.push_back({"node", "bcast", 512, 1e-6});
  rows.back().processes = 4;
  rows.back().median = 2e-6;  // counts for a collective
  CHECK(sample_table(rows, OfLoops::kLeast, 100) ==
        "Time            0 B  8 B (µs)  512 B (µs)  4 KiB  32 KiB (µs)  256 KiB  4 MiB\n"
        "node pingpong               1                              12\n"
        "node bcast p=4                          2\n\n");
}
