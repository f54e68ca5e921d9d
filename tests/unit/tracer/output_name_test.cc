#include "tracer/base/output_name.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "tests/unit/directory.h"

namespace fs = std::filesystem;
using namespace rubato;

TEST_CASE("the number of an output precedes its extension, or follows a name without one") {
  CHECK(numbered_output("/d/run.otf2dir", 1) == "/d/run.otf2dir");
  CHECK(numbered_output("/d/run.otf2dir", 2) == "/d/run-2.otf2dir");
  CHECK(numbered_output("/d/a.b.otf2dir", 10) == "/d/a.b-10.otf2dir");
  CHECK(numbered_output("/d/run", 2) == "/d/run-2");
  // Dots of a directory, or in front of a name, begin no extension.
  CHECK(numbered_output("/d.old/run", 3) == "/d.old/run-3");
  CHECK(numbered_output("/d/.run", 2) == "/d/.run-2");
  CHECK(numbered_output("run.x", 2) == "run-2.x");
}

TEST_CASE("an output that is taken leads to the next name that is free") {
  const TemporaryDirectory directory;
  const std::string output = directory.path() / "run.x";
  CHECK(free_output(output) == output);
  CHECK(last_output(output) == output);
  fs::create_directory(output);
  std::ofstream(directory.path() / "run-2.x") << "a file";
  fs::create_symlink("nowhere", directory.path() / "run-3.x");
  fs::create_directory(directory.path() / "run-5.x");
  CHECK(free_output(output) == directory.path() / "run-4.x");
  CHECK(last_output(output) == directory.path() / "run-3.x");
}
