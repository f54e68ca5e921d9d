#include "tools/calibration/call_formulas.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace rubato;

TEST_CASE("Howell's table of a whole file") {
  // A ping-pong of 5 us + 1 ns d and an allreduce of log2 p (2 us + 1 ns d), ten launches with 3 %
  // of noise: what is planted comes back, and Q believes it.
  std::mt19937 random(7);
  std::normal_distribution<double> normal(0, 0.03);
  SampleFile file;
  const auto add = [&](const char* pattern, int processes, double bytes, double seconds) {
    for (int launch = 1; launch <= 10; ++launch) {
      SampleRow row{"node", pattern, bytes, seconds * (1 + normal(random))};
      row.launch = launch;
      row.processes = processes;
      file.rows.push_back(row);
    }
  };
  for (double bytes = 1; bytes <= 1 << 20; bytes *= 4) {
    add("pingpong", 0, bytes, 5e-6 + 1e-9 * bytes);
    for (const int p : {2, 4, 8, 16})
      add("allreduce", p, bytes, std::log2(p) * (2e-6 + 1e-9 * bytes));
  }
  // one length is no formula For messages the median of loops counts only on request, even if
  // present.
  add("burst", 0, 8, 1e-6);
  for (SampleRow& row : file.rows) {
    if (!row.processes && row.launch % 2) row.median = 2 * row.seconds;
  }
  const auto collectives = fit_collectives(sampled_collectives(file));
  const auto calls = fit_calls(file, collectives, OfLoops::kLeast);
  REQUIRE(calls.size() == 2);
  CHECK(calls[0].name == "node pingpong");
  CHECK(calls[1].name == "allreduce");
  // Ten launches: means to 0.03 / sqrt(10) = 1 %.
  CHECK(calls[0].fit.whole(2, 0) == Approx(5e-6).epsilon(0.05));
  CHECK(calls[0].fit.whole(2, 1e6) == Approx(1.005e-3).epsilon(0.05));
  CHECK(calls[1].fit.whole(8, 1e6) == Approx(3.006e-3).epsilon(0.05));
  for (const FittedCall& call : calls) {
    CHECK(call.fit.whole.goodness > 0.01);
    CHECK(call.fit.whole.goodness <= 1);
  }
  const std::string report = formula_report(calls, "Some MPI", 100);
  CHECK(report.rfind("Some MPI\nMPI Function ", 0) == 0);
  CHECK(report.find("Q requires") == std::string::npos);

  // One launch: no Q.
  SampleFile one;
  for (const SampleRow& row : file.rows) {
    if (row.launch == 1) one.rows.push_back(row);
  }
  const auto without = fit_calls(one, fit_collectives(sampled_collectives(one)), OfLoops::kLeast);
  // Its medians are twice as long.
  const auto medians = fit_calls(one, fit_collectives(sampled_collectives(one)), OfLoops::kMedian);
  CHECK(medians[0].fit.whole(2, 1e6) == Approx(2 * without[0].fit.whole(2, 1e6)));
  const std::string doubtful = formula_report(without, "", 100);
  CHECK(doubtful.rfind("MPI Function ", 0) == 0);
  CHECK(doubtful.find("  -\n") != std::string::npos);
  CHECK(doubtful.find("Q requires at least four launches") != std::string::npos);
}

TEST_CASE("patterns of all ranks have as many processes as there were ranks") {
  SampleFile file;
  file.measured["ranks"] = "8";
  for (const char* pattern : {"ring", "bisection_cold", "pingpong_cold", "burst"}) {
    for (const double bytes : {8., 64., 512.})
      file.rows.push_back({"node", pattern, bytes, 1e-6 + 1e-9 * bytes});
  }
  const auto processes = [&file](size_t call) {
    return fit_calls(file, {}, OfLoops::kLeast).at(call).fit.samples.at(0).processes;
  };
  CHECK(processes(0) == 8);
  CHECK(processes(1) == 8);
  CHECK(processes(2) == 2);
  CHECK(processes(3) == 2);
  file.measured.clear();  // what others measured does not say it
  CHECK(processes(0) == 2);
}
