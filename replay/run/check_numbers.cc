#include "replay/run/check_numbers.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "models/base/error.h"
#include "models/base/number_text.h"

namespace rubato {
namespace {

/// Tolerance for sums of many numbers, as a share of the elapsed time, and of a nanosecond.
constexpr double kRounding = 1e-6;

std::string number(double value) {
  return general_text(value, 4);
}

class Check {
 public:
  Check(const TraceSummary& trace, const ScenarioResult& scenario)
      : trace_(&trace),
        scenario_(&scenario),
        allowed_(kRounding * (std::abs(scenario.elapsed) + 1e-3)) {}

  void run() const {
    check(scenario_->elapsed, "Elapsed");
    check(scenario_->elapsed_with_init, "Elapsed with MPI_Init");
    for (size_t rank = 0; rank < scenario_->ranks.size(); ++rank)
      check_rank(scenario_->ranks[rank], " of rank " + std::to_string(rank));
  }

 private:
  void check_rank(const RankResult& rank, const std::string& whose) const {
    const std::pair<double, const char*> rows[] = {{rank.compute, "compute"},
                                                   {rank.mpi, "the time in MPI"},
                                                   {rank.flushing, "flushing"},
                                                   {rank.not_recorded, "the time not recorded"},
                                                   {rank.lost_core, "the time without a core"},
                                                   {rank.after, "the time after its end"}};
    check(rank.end - rank.start, "the time" + whose);
    double sum = rank.before;
    for (const auto& [seconds, what] : rows) {
      check(seconds, what + whose);
      sum += seconds;
    }
    for (const CallTotals& call : rank.calls) check(call.time, "the time in a call" + whose);
    // (If a clock runs backwards, time counts twice.)
    if (trace_->backwards.count > 0) return;
    const double whole = scenario_->elapsed * std::max(1, rank.threads);
    if (!(std::abs(sum - whole) <= allowed_ * (1 + rank.threads)))
      fail("the sum of the rows" + whose + " is " + number(sum) + " s instead of " + number(whole) +
           " s");
  }

  void check(double seconds, const std::string& what) const {
    if (!(seconds >= -allowed_) || std::isinf(seconds))
      fail(what + " is " + number(seconds) + " s");
  }

  [[noreturn]] void fail(const std::string& what) const {
    const Oddity& backwards = trace_->backwards;
    throw InputError(
        trace_->path + ": scenario '" + scenario_->name + "': " + what + "; " +
        (backwards.count > 0
             ? "the times of the archive run backwards, first at " + backwards.first
             : std::string("the times of the archive or the numbers of the scenario are too large "
                           "to be replayed")));
  }

  const TraceSummary* trace_;
  const ScenarioResult* scenario_;
  double allowed_;
};

}  // namespace

void check_numbers(const Results& results) {
  for (const ScenarioResult& scenario : results.scenarios) {
    if (scenario.deadlock.empty()) Check(results.trace, scenario).run();
  }
}

}  // namespace rubato
