#include "tracer/base/report_line.h"

#include <catch2/catch.hpp>

using namespace rubato;

TEST_CASE("the line at the end of a run names the archive and what to do next") {
  // 12 MiB = 12582912 bytes.
  const RunReport report{"/home/me/run.otf2dir", 4, 12.3, 1234567, 12582912, ""};
  CHECK(report_line(report, "/home/me") ==
        "wrote run.otf2dir (4 ranks, 12.3 s, 1,234,567 MPI calls, 12 MiB); next: rubato replay "
        "run.otf2dir");
  CHECK(report_line(report, "/home/m").find("wrote /home/me/run.otf2dir (") == 0);
  CHECK(report_line(report, "").find("wrote /home/me/run.otf2dir (") == 0);
}

TEST_CASE(
    "the line at the end of a run counts one rank and gives the reason why recording stopped") {
  // 1536 bytes = 1.5 KiB.
  const RunReport report{"/data/my run", 1, 0.0123, 999, 1536, "the memory limit"};
  CHECK(report_line(report, "/data") ==
        "the trace stops early: the memory limit; wrote 'my run' (1 rank, 0.0123 s, 999 MPI calls, "
        "1.5 KiB); next: rubato replay 'my run'");
}
