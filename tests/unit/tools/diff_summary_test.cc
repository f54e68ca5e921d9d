// The function that `rubato diff` names: one with half of the difference, else the deepest one that
// includes half.

#include "tools/studies/diff_summary.h"

#include <catch2/catch.hpp>

using namespace rubato;

namespace {

constexpr size_t kNoCaller = CallPath::kNone;

/// A function of the program on one rank: seconds of its own and with callees, and its caller.
struct Function {
  const char* name;
  double own, inclusive;
  size_t caller;  ///< number of another one; kNoCaller: the outermost
};

/// A run of one rank with these functions, each on one call path.
ObservedRun run_of(const std::vector<Function>& functions) {
  ObservedRun run;
  run.results.scenarios.resize(1);
  RankResult rank;
  for (const Function& f : functions) {
    rank.compute += f.own;
    const std::string place = f.name + std::string(" (app.c:1)");
    run.results.functions.push_back({f.name, place, {f.own}, {f.inclusive}, 1});
    run.results.call_paths.push_back({f.caller, run.results.functions.size() - 1, {f.inclusive}});
    FunctionEfficiency efficiency;
    efficiency.name = f.name;
    efficiency.place = place;
    efficiency.compute = {f.own};
    efficiency.inclusive = {f.inclusive};
    run.places.functions.push_back(efficiency);
  }
  run.results.scenarios[0].ranks = {rank};
  run.places.knows_functions = true;
  return run;
}

}  // namespace

// burn() is called twice: by assemble(), 3 s, and as a function of another file, 2 s. By name that
// is 5 s, known to the hypotenuse of 0.3 s and 0.4 s, 0.5 s. idle() has MPI calls only.
TEST_CASE("diff compares all functions by name") {
  ObservedRun before =
      run_of({{"burn", 3, 3, kNoCaller}, {"burn", 2, 2, kNoCaller}, {"idle", 0, 0, 0}});
  before.places.functions[0].inclusive_error = 0.3;
  before.places.functions[1].inclusive_error = 0.4;
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) names.push_back("f" + std::to_string(i));
  std::vector<Function> functions;
  for (const std::string& name : names) functions.push_back({name.c_str(), 1, 2, kNoCaller});
  const auto pairs = compared_functions(before.places, run_of(functions).places);
  CHECK(pairs.size() == 101);
  CHECK(pairs.at("burn").before == Approx(5));
  CHECK(pairs.at("burn").before_error == Approx(0.5));
  CHECK(pairs.at("burn").after == 0);
  CHECK(pairs.at("f99").after == Approx(2));
  CHECK(pairs.at("f99").after_error == 0);
}

// burn() takes 1 s more, which is all: assemble() and main() include it.
TEST_CASE("diff names the function whose own compute differs, and its caller") {
  const ObservedRun before =
      run_of({{"main", 1, 4, kNoCaller}, {"assemble", 1, 3, 0}, {"burn", 2, 2, 1}});
  const ObservedRun after =
      run_of({{"main", 1, 5, kNoCaller}, {"assemble", 1, 4, 0}, {"burn", 3, 3, 1}});
  const DiffSummary summary = summary_of(before, after);
  CHECK(summary.function == "burn (app.c:1)");
  CHECK_FALSE(summary.with_callees);
  CHECK(summary.in_function == Approx(1));
  CHECK(summary.caller == "assemble (app.c:1)");
}

// Three callees of assemble() take 0.4, 0.4 and 0.2 s more: none has half of 1.0 s, assemble()
// includes all.
TEST_CASE("diff names the deepest function that includes half of the difference") {
  const ObservedRun before = run_of({{"main", 1, 5, kNoCaller},
                                     {"assemble", 1, 4, 0},
                                     {"a", 1, 1, 1},
                                     {"b", 1, 1, 1},
                                     {"c", 1, 1, 1}});
  const ObservedRun after = run_of({{"main", 1, 6, kNoCaller},
                                    {"assemble", 1, 5, 0},
                                    {"a", 1.4, 1.4, 1},
                                    {"b", 1.4, 1.4, 1},
                                    {"c", 1.2, 1.2, 1}});
  const DiffSummary summary = summary_of(before, after);
  CHECK(summary.function == "assemble (app.c:1)");
  CHECK(summary.with_callees);
  CHECK(summary.in_function == Approx(1));
  CHECK(summary.caller == "main (app.c:1)");
}

// Callees of main() itself: main() includes every difference, which says nothing.
TEST_CASE("diff names no outermost function") {
  const ObservedRun before =
      run_of({{"main", 1, 4, kNoCaller}, {"a", 1, 1, 0}, {"b", 1, 1, 0}, {"c", 1, 1, 0}});
  const ObservedRun after = run_of(
      {{"main", 1, 5, kNoCaller}, {"a", 1.4, 1.4, 0}, {"b", 1.4, 1.4, 0}, {"c", 1.2, 1.2, 0}});
  CHECK(summary_of(before, after).function == "");
}

// assemble() calls itself, and three others inside: its inclusive time counts the outer call alone,
// 2 s more, and so does that of its caller.
TEST_CASE("diff counts recursion once") {
  const auto run = [](double more) {
    ObservedRun run = run_of({{"main", 1, 5 + more, kNoCaller},
                              {"assemble", 1, 4 + more, 0},
                              {"a", 1 + 0.4 * more, 1 + 0.4 * more, 1},
                              {"b", 1 + 0.4 * more, 1 + 0.4 * more, 1},
                              {"c", 1 + 0.2 * more, 1 + 0.2 * more, 1}});
    // main > assemble > assemble > a, b, c
    run.results.call_paths.push_back({1, 1, {3 + more}});
    for (size_t i = 2; i < 5; ++i) run.results.call_paths[i].caller = 5;
    return run;
  };
  const DiffSummary summary = summary_of(run(0), run(2));
  CHECK(summary.function == "assemble (app.c:1)");
  CHECK(summary.in_function == Approx(2));
  CHECK(summary.caller == "main (app.c:1)");
}

// solve() saves 10 itself, while assemble() below it takes 1000 more in three callees: of the other
// 990 both include more than half, and assemble() is deeper.
TEST_CASE("diff names the deeper of two functions, not the one with less") {
  const auto run = [](double a, double b, double c, double solve) {
    const double assemble = 1000 + a + b + c;
    return run_of({{"main", 0, solve + assemble, kNoCaller},
                   {"solve", solve, solve + assemble, 0},
                   {"assemble", 1000, assemble, 1},
                   {"a", a, a, 2},
                   {"b", b, b, 2},
                   {"c", c, c, 2}});
  };
  const DiffSummary summary = summary_of(run(100, 100, 100, 100), run(500, 500, 300, 90));
  CHECK(summary.on_rank == Approx(990));
  CHECK(summary.function == "assemble (app.c:1)");
  CHECK(summary.with_callees);
  CHECK(summary.in_function == Approx(1000));
  CHECK(summary.caller == "solve (app.c:1)");
}

TEST_CASE("diff names no function where nothing differs") {
  const ObservedRun run = run_of({{"main", 1, 2, kNoCaller}, {"a", 1, 1, 0}});
  const DiffSummary summary = summary_of(run, run);
  CHECK(summary.function == "");
  CHECK_FALSE(summary.with_callees);
}

// Of 100 more, c() saves 400, y() takes 160 more and z() 340.
TEST_CASE("diff names the function that got slower beside one that got faster") {
  const auto run = [](double c, double y, double z) {
    return run_of(
        {{"main", 0, c + y + z, kNoCaller}, {"c", c, c, 0}, {"y", y, y, 0}, {"z", z, z, 0}});
  };
  const DiffSummary summary = summary_of(run(500, 100, 100), run(100, 260, 440));
  CHECK(summary.function == "z (app.c:1)");
  CHECK_FALSE(summary.with_callees);
  CHECK(summary.in_function == Approx(340));
}

// main > expr > term > expr > p, q, r: term() is the deepest that includes all 1.0; so does expr().
TEST_CASE("diff names the deeper of two functions that call each other") {
  const auto run = [](double p, double q, double r) {
    const double all = p + q + r;
    ObservedRun run = run_of({{"main", 0, all, kNoCaller},
                              {"expr", 0, all, 0},
                              {"term", 0, all, 1},
                              {"p", p, p, 3},
                              {"q", q, q, 3},
                              {"r", r, r, 3}});
    std::vector<CallPath>& paths = run.results.call_paths;
    paths.insert(paths.begin() + 3, {2, 1, {all}});  // the inner expr()
    return run;
  };
  const DiffSummary summary = summary_of(run(1, 1, 1), run(1.4, 1.4, 1.2));
  CHECK(summary.function == "term (app.c:1)");
  CHECK(summary.with_callees);
  CHECK(summary.in_function == Approx(1));
  CHECK(summary.caller == "expr (app.c:1)");
}
