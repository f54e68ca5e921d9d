// Functions by call path: which time belongs to which function, with and without its callees.

#include "replay/trace/call_tree.h"

#include <catch2/catch.hpp>

#include "replay/analyse/function_results.h"
#include "replay/calls/function_clock.h"
#include "replay/run/driver.h"
#include "replay/sources/text_source.h"

using namespace rubato;

namespace {

constexpr uint32_t kMain = 0, kSolve = 1;

/// The functions of a text trace; `overhead`: ticks that recording an enter or leave took.
Results functions_of(const std::string& text, double overhead = 0) {
  const auto source = parse_text_trace(text);
  source->total_functions();
  source->load({});
  Results results;
  const TraceDefinitions& trace = source->definitions();
  add_function_results(source->functions(), *source->function_totals(), trace,
                       overhead / trace.ticks_per_second, results);
  return results;
}

/// "main > solve 12 30": a path with its inclusive ticks by rank.
std::vector<std::string> paths_of(const Results& results) {
  std::vector<std::string> names, lines;
  for (const CallPath& path : results.call_paths) {
    const std::string& name = results.functions[path.function].name;
    names.push_back(path.caller == CallPath::kNone ? name : names[path.caller] + " > " + name);
    lines.push_back(names.back());
    for (const double seconds : path.inclusive)
      lines.back() += " " + std::to_string(std::lround(seconds * 1e9));
  }
  return lines;
}

void check_function(const FunctionResult& function, const std::string& name, double exclusive,
                    double inclusive, uint64_t calls) {
  CHECK(function.name == name);
  CHECK(function.compute[0] == Approx(exclusive * 1e-9));
  CHECK(function.inclusive[0] == Approx(inclusive * 1e-9));
  CHECK(function.calls == calls);
}

}  // namespace

TEST_CASE("ticks belong to the innermost function, and MPI calls to none") {
  FunctionTotals totals;
  totals[0] = {};
  FunctionClock clock({nullptr, &totals}, 0);
  clock.enter_function({0, kMain}, 0);
  clock.begin_window();  // nothing counts from before
  clock.enter_function({0, kSolve}, 10);
  clock.enter_function({0, kMain}, 20);
  clock.leave_function({0, kMain}, 50);
  clock.stop(1, 60);
  clock.go(90);
  clock.leave_function({0, kSolve}, 95);
  clock.leave_function({0, kMain}, 100);
  clock.finish();
  const std::vector<CallTree::Node>& nodes = totals[0].nodes();
  REQUIRE(nodes.size() == 4);
  CHECK(nodes[1].ticks == 10 + 5);       // main, from 0 to 10 and from 95 to 100
  CHECK(nodes[2].ticks == 10 + 10 + 5);  // solve, from 10 to 20, 50 to 60 and 90 to 95
  CHECK(nodes[3].ticks == 30);           // main in solve
}

// For 9 of the 18 from 90 to 108 the rank had no core: half of the 13 in solve, and of the 5 in
// main.
TEST_CASE("a lost core shortens all functions since the last call") {
  FunctionTotals totals;
  totals[0] = {};
  FunctionClock clock({nullptr, &totals}, 0);
  clock.enter_function({0, kMain}, 0);
  clock.enter_function({0, kSolve}, 10);
  clock.stop(1, 60);
  clock.go(90);
  clock.leave_function({0, kSolve}, 95);
  clock.leave_function({0, kMain}, 100);
  clock.enter_function({0, kSolve}, 100);
  clock.lose(9, 108);
  clock.finish();
  const std::vector<CallTree::Node>& nodes = totals[0].nodes();
  REQUIRE(nodes.size() == 4);
  CHECK(nodes[1].ticks == 10 + 2.5);
  CHECK(nodes[2].ticks == 50 + 2.5);
  CHECK(nodes[3].ticks == 4);
}

// burn: 80 in assemble and 9 in main. assemble: 100 less burn's 80 and the barrier's 5.
TEST_CASE("inclusive time holds the time of the called functions") {
  const Results results = functions_of(R"(
    0: 0 enter main
    0: 10 enter assemble
    0: 15 enter burn
    0: 95 leave burn
    0: 100..105 barrier
    0: 110 leave assemble
    0: 115 enter burn
    0: 124 leave burn
    0: 130 leave main
    0: 130 end
  )");
  REQUIRE(results.functions.size() == 3);
  check_function(results.functions[0], "main", 10 + 5 + 6, 125, 1);
  check_function(results.functions[1], "assemble", 5 + 5 + 5, 95, 1);
  check_function(results.functions[2], "burn", 80 + 9, 89, 2);
  CHECK(paths_of(results) == std::vector<std::string>{"main 125", "main > assemble 95",
                                                      "main > burn 9",
                                                      "main > assemble > burn 80"});
}

// f 0..100 calls itself 10..90 and g 20..80, which calls f 30..70: f is open for all 100, g for 60.
TEST_CASE("recursion counts once") {
  const Results results = functions_of(R"(
    0: 0 enter f
    0: 10 enter f
    0: 20 enter g
    0: 30 enter f
    0: 70 leave f
    0: 80 leave g
    0: 90 leave f
    0: 100 leave f
    0: 100 end
  )");
  REQUIRE(results.functions.size() == 2);
  check_function(results.functions[0], "f", 40 + 40, 100, 3);
  check_function(results.functions[1], "g", 20, 60, 1);
  CHECK(paths_of(results) == std::vector<std::string>{"f 100", "f > g 60", "f > g > f 40"});
}

// Recording an enter or a leave takes 2, after its time was read: work, 100 long, has 2 for its own
// enter, and for each of its 10 calls of leaf (5 long) 2 inside of leaf and 2 after it.
//   leaf: 10 (5 - 2) = 30    work: 100 - 50 - 2 - 10 2 = 28, with leaf 58
//   main: 120 - 100 - 2 for its enter - 2 after work = 16, with work 74
TEST_CASE("the cost of recording a function is subtracted from it and its callers") {
  std::string text = "0: 0 enter main\n0: 10 enter work\n";
  for (int i = 0; i < 10; ++i) {
    text += "0: " + std::to_string(15 + 9 * i) + " enter leaf\n";
    text += "0: " + std::to_string(20 + 9 * i) + " leave leaf\n";
  }
  const Results results =
      functions_of(text + "0: 110 leave work\n0: 120 leave main\n0: 120 end\n", 2);
  REQUIRE(results.functions.size() == 3);
  check_function(results.functions[0], "main", 16, 74, 1);
  check_function(results.functions[1], "work", 28, 58, 1);
  check_function(results.functions[2], "leaf", 30, 30, 10);
}

// longjmp() from g to main leaves no record: main's end is the end of g.
TEST_CASE("a function ends with its caller if its end was not recorded") {
  const Results results = functions_of(R"(
    0: 0 enter main
    0: 10 enter g
    0: 50 leave main
    0: 60 enter main
    0: 70 leave main
    0: 70 end
  )");
  REQUIRE(results.functions.size() == 2);
  check_function(results.functions[0], "main", 20, 60, 2);
  CHECK(paths_of(results) == std::vector<std::string>{"main 60", "main > g 40"});
}

// f and g call each other in all combinations, 20 deep: more than a million paths.
TEST_CASE("the number of call paths is limited, exclusive times remain exact") {
  CallTree tree;
  uint64_t added = 0;
  for (uint32_t bits = 0; bits < 1u << 17; ++bits) {
    uint32_t node = CallTree::kRoot;
    for (uint32_t level = 0; level < 17; ++level)
      node = tree.call(node, 2 * level + (bits >> level & 1));
    tree[node].ticks += 1;
    ++added;
  }
  CHECK(tree.nodes().size() <= CallTree::kMostNodes + 34);
  double ticks = 0;
  for (const CallTree::Node& node : tree.nodes()) {
    if (node.function == 32 || node.function == 33) ticks += node.ticks;
  }
  CHECK(ticks == static_cast<double>(added));
}
