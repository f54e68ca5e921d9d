#include "calibrate/clock/core_states.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/unit/directory.h"

using namespace rubato;

TEST_CASE("identical cores are reported together") {
  CHECK(text_by_core({"a", "a", "b", "", "b"}) == "0-1: a; 2: b; 4: b");
  CHECK(text_by_core({"a", "a"}) == "a");
  CHECK(text_by_core({"", ""}).empty());
  CHECK(text_by_core({}).empty());
}

TEST_CASE("governor and frequency of each core, if the kernel provides them") {
  const TemporaryDirectory directory;
  const std::string system = directory.path();
  for (const char* core : {"cpu0", "cpu1"})
    std::filesystem::create_directories(directory.path() / core / "cpufreq");
  directory.write("cpu0/cpufreq/scaling_governor", "performance\n");
  directory.write("cpu1/cpufreq/scaling_governor", "powersave\n");
  directory.write("cpu1/cpufreq/scaling_cur_freq", "1200000\n");  // kHz
  const std::string cpuinfo = directory.write(
      "cpuinfo", "processor\t: 0\ncpu MHz\t\t: 2399.6\n\nprocessor\t: 1\ncpu MHz\t\t: 2400\n");
  CHECK(governors(system, 2) == "0: performance; 1: powersave");
  CHECK(frequencies(system, cpuinfo, 2) == "0: 2400 MHz; 1: 1200 MHz");
  CHECK(governors(system + "/none", 2).empty());
  CHECK(frequencies(system + "/none", cpuinfo, 2) == "2400 MHz");
  CHECK(frequencies(system + "/none", system + "/none", 2).empty());
}
