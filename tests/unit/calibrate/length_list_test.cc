#include "calibrate/plan/length_list.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "models/base/error.h"

using namespace rubato;
namespace fs = std::filesystem;

namespace {

/// The list in a file with this text.
LengthList list_in(const std::string& text) {
  const fs::path path =
      fs::temp_directory_path() / ("rubato-lengths-" + std::to_string(getpid()) + ".csv");
  std::ofstream(path) << text;
  try {
    const LengthList list = read_length_list(path);
    fs::remove(path);
    return list;
  } catch (const InputError&) {
    fs::remove(path);
    throw;
  }
}

}  // namespace

TEST_CASE("lengths are read by level and pattern, from all launches of a file") {
  const LengthList list = list_in(
      "level,pattern,bytes,messages,seconds_min\n"
      "node,pingpong,8,1,1e-6\nnode,pingpong,0,1,1e-6\nnode,burst,16,4,1e-6\n"
      "node,eager,4096,1,\n"
      "# mpi: some\n"
      "level,bytes,pattern,seconds_min\n"
      "node,24,pingpong,1e-6\nnode,8,pingpong,1e-6\n");
  CHECK(lengths_of(list, Level::kNode, "pingpong") == std::vector<size_t>{0, 8, 24});
  CHECK(lengths_of(list, Level::kNode, "burst") == std::vector<size_t>{16});
  CHECK(lengths_of(list, Level::kNode, "eager").empty());
  CHECK(lengths_of(list, Level::kNetwork, "pingpong").empty());
}

TEST_CASE("payloads of collectives are no lengths of messages") {
  const LengthList list = list_in(
      "level,pattern,bytes,messages,seconds_min,launch,processes\n"
      "node,pingpong,8,1,1e-6,1,\nnode,reduce_scatter,2.66666666666667,1,1e-6,1,3\n");
  CHECK(list.size() == 1);
  CHECK(lengths_of(list, Level::kNode, "pingpong") == std::vector<size_t>{8});
}

TEST_CASE("files without lengths are refused") {
  CHECK_THROWS_AS(read_length_list("/no/such/file.csv"), InputError);
  CHECK_THROWS_AS(list_in(""), InputError);
  CHECK_THROWS_AS(list_in("format = 1\n"), InputError);
  CHECK_THROWS_AS(list_in("level,pattern,bytes,seconds_min\n"), InputError);
  CHECK_THROWS_AS(list_in("level,pattern,bytes,seconds_min\nnode,pingpong,8B,1e-6\n"), InputError);
}
