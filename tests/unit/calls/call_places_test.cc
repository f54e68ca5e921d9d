// Places of calls come back as they were put in, over chunks and far events.

#include "replay/store/call_places.h"

#include <catch2/catch.hpp>

#include "models/base/error.h"
#include "replay/sources/text_source.h"

using namespace rubato;

TEST_CASE("places are found by event, also for calls in between") {
  CallPlaces places(2);
  const std::vector<FunctionPart> none;
  const std::vector<FunctionPart> two = {{3, 5}, {4, 7}};
  places.add(1, 10, 2, kNoPlace, two, 0);
  places.add(1, 12, 2, kNoPlace, none, 0);  // nothing new
  places.add(1, uint64_t{1} << 40, 2, 9, none, 1);
  CallPlaces::Reader reader(places, 1);
  CHECK(reader.at(1).function == kNoPlace);
  CHECK(reader.at(10).function == 2);
  REQUIRE(reader.at(10).before.size() == 2);
  CHECK(reader.at(10).before[1].function == 4);
  CHECK(reader.at(10).before[1].ticks == 7);
  CHECK(reader.at(12).function == 2);
  CHECK(reader.at(12).before.empty());
  CHECK(reader.at(20).site == kNoPlace);
  CHECK(reader.at(12).path == 0);
  CHECK(reader.at(uint64_t{1} << 40).site == 9);
  CHECK(reader.at(uint64_t{1} << 40).path == 1);
  CallPlaces::Reader other(places, 0);
  CHECK(other.at(10).function == kNoPlace);
  places.forget(1);
  CHECK(CallPlaces::Reader(places, 1).at(10).function == kNoPlace);
}

// 3 million calls of 8 words each, 96 MB: more than stays in memory.
TEST_CASE("places beyond what stays in memory come from the file") {
  CallPlaces places(1);
  constexpr uint32_t kCalls = 3000000;
  for (uint32_t i = 1; i <= kCalls; ++i) {
    const FunctionPart part = {i % 5, static_cast<double>(i % 1000)};
    places.add(0, uint64_t{2} * i, i % 7, i % 3, {&part, 1}, 0);
  }
  for (int pass = 0; pass < 2; ++pass) {
    CallPlaces::Reader reader(places, 0);
    uint32_t wrong = 0;
    for (uint32_t i = 1; i <= kCalls; ++i) {
      const CallPlace& place = reader.at(uint64_t{2} * i);
      wrong += place.function != i % 7 || place.site != i % 3 || place.before.size() != 1 ||
               place.before[0].function != i % 5 || place.before[0].ticks != i % 1000;
    }
    CHECK(wrong == 0);
  }
}

// Each mistake has its line.
TEST_CASE("functions and lines of a trace in text") {
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      parse_text_trace(text);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no refusal";
  };
  CHECK(refusal("0: 0..1 barrier at\n") == "trace:1: 'at' has no value");
  CHECK(refusal("0: 0..1 barrier at main\n") == "trace:1: write 'at FILE:LINE'");
  CHECK(refusal("0: 0 enter\n") == "trace:1: the function is missing");
  CHECK(refusal("0: 0 enter f\n0: 1 leave g\n") == "trace:2: function g was not entered");
  const auto source = parse_text_trace(
      "0: 0 enter f\n0: 1..2 barrier at a.c:7\n0: 2..3 barrier at a.c:7\n0: 4 leave f\n");
  CHECK(source->functions().size() == 1);
  REQUIRE(source->call_sites().size() == 1);
  CHECK(source->call_sites()[0].file == "a.c");
  CHECK(source->call_sites()[0].line == 7);
  CHECK(source->call_places() == nullptr);  // not requested
  source->note_places();
  CHECK(source->call_places() != nullptr);
}
