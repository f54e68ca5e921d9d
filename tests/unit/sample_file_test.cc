#include "tools/sample_file.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "models/error.h"

using namespace rubato;
namespace fs = std::filesystem;

namespace {

/// A file that lives as long as the test.
struct SampleFile {
  fs::path path;
  explicit SampleFile(const std::string& text)
      : path(fs::temp_directory_path() / ("rubato-samples-" + std::to_string(getpid()) + ".csv")) {
    std::ofstream(path) << text;
  }
  ~SampleFile() { fs::remove(path); }
  std::vector<SampleRow> rows(const std::string& column = "seconds_min") const {
    return read_sample_rows(path, column);
  }
  std::string complaint() const {
    try {
      rows();
    } catch (const InputError& error) {
      const std::string text = error.what();
      return text.substr(std::min(text.size(), path.string().size()));
    }
    return "none";
  }
};

}  // namespace

TEST_CASE("sample rows are read by the names of their columns") {
  const SampleFile file(
      "# a comment\n"
      "launch,pattern,level,seconds_avg,seconds_min,bytes\n"
      "1,pingpong,node,2e-6,1e-6,8\n"
      "3,burst,network,4e-6,3e-6,16\n"
      "\n"
      "# another\n"
      "1,pingpong,node,2e-6,1.5e-6,8\n");
  const std::vector<SampleRow> rows = file.rows();
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].level == "node");
  CHECK(rows[0].pattern == "pingpong");
  CHECK(rows[0].bytes == 8);
  CHECK(rows[0].seconds == 1e-6);
  CHECK(rows[1].seconds == 3e-6);
  CHECK(rows[0].launch == 1);
  CHECK(rows[1].launch == 2);
  CHECK(rows[2].launch == 1);
  CHECK(file.rows("seconds_avg")[1].seconds == 4e-6);
}

TEST_CASE("a file without launches is one launch, files strung together are several") {
  const std::string old_header = "level,pattern,bytes,messages,seconds_min\n";
  const std::string new_header = "level,pattern,bytes,messages,seconds_min,launch\n";
  const SampleFile file(old_header + "node,pingpong,8,1,1e-6\nnode,pingpong,9,1,1e-6\n" +
                        old_header + "node,pingpong,8,1,2e-6\n" + new_header +
                        "node,pingpong,8,1,3e-6,1\nnode,pingpong,8,1,3e-6,2\n");
  std::vector<int> launches;
  for (const SampleRow& row : file.rows()) launches.push_back(row.launch);
  CHECK(launches == std::vector<int>{1, 1, 2, 3, 4});
}

TEST_CASE("files that cannot be computed with are refused with their line") {
  const std::string header = "level,pattern,bytes,seconds_min\n";
  CHECK(SampleFile("").complaint() == ": there are no samples with seconds_min in it");
  CHECK(SampleFile(header).complaint() == ": there are no samples with seconds_min in it");
  CHECK(SampleFile("level,pattern,size\nnode,pingpong,8\n").complaint() ==
        ":1: no column 'bytes'; is this a file of samples of 'rubato calibrate'?");
  CHECK(SampleFile(header + "node,pingpong,8,1e-6\nnode,pingpong,eight,1e-6\n").complaint() ==
        ":3: 'eight' is no number of bytes");
  CHECK(SampleFile(header + "node,pingpong,-8,1e-6\n").complaint() ==
        ":2: '-8' is no number of bytes");
  CHECK(SampleFile(header + "node,pingpong,8,0\n").complaint() ==
        ":2: seconds_min is '0', and not a time greater than 0");
  CHECK(SampleFile(header + "node,pingpong,8,inf\n").complaint() ==
        ":2: seconds_min is 'inf', and not a time greater than 0");
  CHECK(SampleFile(header + "node\n").complaint() == ":2: a row without level or pattern");
  CHECK_THROWS_AS(read_sample_rows("/no/such/file.csv", "seconds_min"), InputError);
}

TEST_CASE("rows without a time are none") {
  const SampleFile file(
      "level,pattern,bytes,seconds_min,launch\nnode,eager,4096,,1\nnode,pingpong,8,1e-6,1\n");
  REQUIRE(file.rows().size() == 1);
  CHECK(file.rows()[0].pattern == "pingpong");
}
