#include "tools/report/platform_picture.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "models/base/error.h"
#include "tests/unit/directory.h"
#include "tools/files/archive_guard.h"

using namespace rubato;
namespace fs = std::filesystem;

namespace {

constexpr char kPlatform[] = R"(
format = 1
name = "two straight lines"
[level.node]
transfer = [
  { from = "0B",   latency = "1us", bandwidth = "1GB/s" },
  { from = "1kB",  latency = "3us", bandwidth = "10GB/s" },
]
send_overhead = "100ns"
receive_overhead = "200ns"
)";

}  // namespace

TEST_CASE("a platform is drawn with overheads, its borders and its samples") {
  const TemporaryDirectory dir;
  const std::string file = dir.write("p.toml", kPlatform);
  dir.write("p.csv",
            "level,pattern,bytes,messages,seconds_min,seconds_avg,loops,seconds_fit\n"
            "node,pingpong,0,1,1.4e-6,2e-6,10,\n"
            "node,burst,0,64,9,9,10,\n"
            "network,pingpong,8,1,1e-6,2e-6,10,\n"
            "node,pingpong,2000,1,nonsense,2e-6,10,\n"
            "node,pingpong,2000,1,3.6e-6,4e-6,10,3.5e-6\n"
            "node,pingp\n");
  const PlatformPicture picture = picture_of_platform(file);
  CHECK(picture.name == "two straight lines");
  REQUIRE(picture.levels.size() == 1);
  const LevelPicture& node = picture.levels[0];

  // At 0 bytes: 1 us + 100 ns + 200 ns. At 2000: 3 us + 2000 B / 10 GB/s + 300 ns = 3.5 us.
  REQUIRE(node.samples.size() == 2);
  CHECK(node.samples[0].fitted == Approx(1.3e-6));
  CHECK(node.samples[1].fitted == Approx(3.5e-6));
  CHECK(node.curve.front().seconds == Approx(1.3e-6));
  CHECK(node.curve.back().bytes == 2000);

  // The jump at 1000 bytes is drawn as one: 1 us + 1 us + 0.3 us before, 3.1 us + 0.3 us at it.
  for (size_t i = 0; i + 1 < node.curve.size(); ++i) {
    if (node.curve[i + 1].bytes != 1000) continue;
    CHECK(node.curve[i].seconds == Approx(2.3e-6));
    CHECK(node.curve[i + 1].seconds == Approx(3.4e-6));
  }
}

TEST_CASE("levels without samples are not drawn") {
  const TemporaryDirectory dir;
  CHECK(picture_of_platform(dir.write("p.toml", kPlatform)).levels.empty());
}

TEST_CASE("reports are not written into archives") {
  const TemporaryDirectory dir;
  fs::create_directory(dir.path() / "run.otf2dir");
  const std::string archive = dir.path() / "run.otf2dir";
  CHECK_THROWS_AS(refuse_archive_part(archive + "/report.html", archive), UsageError);
  CHECK_THROWS_AS(refuse_archive_part(archive + "/traces.otf2", archive + "/traces.otf2"),
                  UsageError);
  CHECK_THROWS_AS(refuse_archive_part(dir.path() / "other.otf2", archive), UsageError);
  CHECK_NOTHROW(refuse_archive_part(dir.path() / "report.html", archive));
  CHECK_NOTHROW(refuse_archive_part(dir.path() / "run.otf2dir.html", archive));
}
