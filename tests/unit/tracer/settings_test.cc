// Settings in the environment that are not understood.
#include "tracer/base/settings.h"

#include <catch2/catch.hpp>
#include <cstdlib>

using namespace rubato;

TEST_CASE("windows are two numbers in order") {
  RunWindow window;
  CHECK(RunWindow::parse("0.5:10", window));
  CHECK(window.begin == 0.5);
  CHECK(window.end == 10);
  for (const char* text :
       {"nan:5", "1:nan", "barrier:nan:nan", "-1:5", "5:1", "2:2", "inf:", "1", "1:2x"}) {
    CAPTURE(text);
    CHECK_FALSE(RunWindow::parse(text, window));
  }
  CHECK(window.end == 10);  // as before
}

TEST_CASE("a number that is not understood leaves the default") {
  constexpr uint64_t kDefault = uint64_t{256} << 20;
  for (const char* text : {"abc", "", "nan", "-1", "64MiB", "1e300"}) {
    CAPTURE(text);
    for (const char* name :
         {"RUBATO_TRACE_SYNC_EVERY", "RUBATO_TRACE_MEMORY", "RUBATO_TRACE_SAMPLE"}) {
      setenv(name, text, 1);
    }
    const Settings settings = Settings::from_environment();
    CHECK(settings.sync_every == 0);
    CHECK(settings.memory == kDefault);
    CHECK(settings.sample_period == 0);
  }
  setenv("RUBATO_TRACE_SYNC_EVERY", "9.9999999999999995e-07", 1);
  setenv("RUBATO_TRACE_MEMORY", "65536", 1);
  setenv("RUBATO_TRACE_SAMPLE", "1000000", 1);
  const Settings settings = Settings::from_environment();
  CHECK(settings.sync_every == 1e-6);
  CHECK(settings.memory == 65536);
  CHECK(settings.sample_period == 1000000);
  for (const char* name :
       {"RUBATO_TRACE_SYNC_EVERY", "RUBATO_TRACE_MEMORY", "RUBATO_TRACE_SAMPLE"}) {
    unsetenv(name);
  }
}
