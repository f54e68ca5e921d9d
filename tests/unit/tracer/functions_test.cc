#include <catch2/catch.hpp>

#include "tracer/archive/open_functions.h"
#include "tracer/code/function_filter.h"
#include "tracer/layout/record.h"

using namespace rubato;

namespace {

/// Says in one word what is closed, regions being letters.
struct Log {
  OpenFunctions open;
  std::string closed;
  void enter(char name, int depth) {
    open.enter(static_cast<uint64_t>(name), depth, static_cast<uint32_t>(name),
               [this](uint32_t region) { closed += static_cast<char>(region); });
  }
  void leave(char name, int depth) {
    open.leave(static_cast<uint64_t>(name), depth,
               [this](uint32_t region) { closed += static_cast<char>(region); });
  }
};

}  // namespace

TEST_CASE("functions that nest are closed one by one") {
  Log log;
  log.enter('f', 0);
  log.enter('g', 1);
  log.enter('f', 2);
  log.leave('f', 2);
  log.leave('g', 1);
  CHECK(log.closed == "fg");
  log.leave('f', 0);
  CHECK(log.closed == "fgf");
  CHECK(log.open.empty());
}

TEST_CASE("functions that longjmp skips end with the one around them") {
  Log log;
  log.enter('f', 0);
  log.enter('g', 1);
  log.enter('h', 2);
  log.leave('f', 2);  // the depth still counts g and h
  CHECK(log.closed == "hgf");
  CHECK(log.open.empty());
}

TEST_CASE("what is left or entered while recording is off does not unbalance the rest") {
  Log log;
  log.leave('m', -1);  // entered before recording began
  log.enter('f', -1);
  log.enter('g', 0);
  // off: g is left, h entered; on
  log.leave('h', 0);
  CHECK(log.closed == "g");
  log.enter('k', 0);
  // off: k and f are left; on
  log.enter('n', -1);
  CHECK(log.closed == "gkf");
  log.leave('n', -1);
  CHECK(log.open.empty());
}

TEST_CASE("depths beyond their limits do not close anything") {
  Log log;
  for (int i = 0; i < 40000; ++i) log.enter('r', function_depth(function_word(1, i)));
  CHECK(log.closed.empty());
  for (int i = 40000; i-- > 0;) log.leave('r', function_depth(function_word(1, i)));
  CHECK(log.closed.size() == 40000);
  CHECK(log.open.empty());
}

TEST_CASE("the record of a function contains address and depth") {
  const uint64_t word = function_word(0x7fffdeadbeef, -3);
  CHECK(function_address(word) == 0x7fffdeadbeef);
  CHECK(function_depth(word) == -3);
}

TEST_CASE("the last rule that matches a function's name decides") {
  const FunctionFilter filter(
      "# comment\n\n exclude *\ninclude ns::*\nexclude ns::f(int, ?ong)\r\n");
  CHECK_FALSE(filter.includes("main"));
  CHECK(filter.includes("ns::f(int)"));
  CHECK_FALSE(filter.includes("ns::f(int, long)"));
  CHECK(FunctionFilter().includes("main"));
  CHECK(FunctionFilter::bad_line("exclude a\nomit b\n") == 2);
  CHECK(FunctionFilter::bad_line("exclude\n") == 1);
  CHECK(FunctionFilter::bad_line("#\n\ninclude a b\n") == 0);
}

TEST_CASE("patterns match the whole name") {
  CHECK(FunctionFilter::matches("*", ""));
  CHECK(FunctionFilter::matches("a*b*c", "axxbxbxc"));
  CHECK_FALSE(FunctionFilter::matches("a*b*c", "axxbxbx"));
  CHECK_FALSE(FunctionFilter::matches("a", "ab"));
  CHECK(FunctionFilter::matches("operator[]*", "operator[](int)"));
}
