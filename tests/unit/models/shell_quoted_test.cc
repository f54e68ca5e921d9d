#include "models/base/shell_quoted.h"

#include <catch2/catch.hpp>

using namespace rubato;

TEST_CASE("a word is quoted if a shell would interpret it") {
  CHECK(shell_quoted("runs/a-1.csv") == "runs/a-1.csv");
  CHECK(shell_quoted("--on=x:cpu*2") == "'--on=x:cpu*2'");
  CHECK(shell_quoted("my run.csv") == "'my run.csv'");
  CHECK(shell_quoted("it's") == "'it'\\''s'");
  CHECK(shell_quoted("$HOME") == "'$HOME'");
  CHECK(shell_quoted("") == "''");
}
