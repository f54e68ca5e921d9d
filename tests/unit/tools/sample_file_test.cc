#include "tools/files/sample_file.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "models/base/error.h"
#include "tools/calibration/call_formulas.h"
#include "tools/calibration/sample_fit.h"

using namespace rubato;
namespace fs = std::filesystem;

namespace {

/// A file that lives as long as the test.
struct FileOfSamples {
  static inline int made = 0;
  fs::path path;
  explicit FileOfSamples(const std::string& text)
      : path(fs::temp_directory_path() / ("rubato-samples-" + std::to_string(getpid()) + "-" +
                                          std::to_string(++made) + ".csv")) {
    std::ofstream(path) << text;
  }
  ~FileOfSamples() { fs::remove(path); }
  std::vector<SampleRow> rows(const std::string& column = "seconds_min") const {
    return read_sample_file(path, column).rows;
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
  const FileOfSamples file(
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
  const FileOfSamples file(old_header + "node,pingpong,8,1,1e-6\nnode,pingpong,9,1,1e-6\n" +
                           old_header + "node,pingpong,8,1,2e-6\n" + new_header +
                           "node,pingpong,8,1,3e-6,1\nnode,pingpong,8,1,3e-6,2\n");
  std::vector<int> launches;
  for (const SampleRow& row : file.rows()) launches.push_back(row.launch);
  CHECK(launches == std::vector<int>{1, 1, 2, 3, 4});
}

TEST_CASE("files that cannot be computed with are refused with their line") {
  const std::string header = "level,pattern,bytes,seconds_min\n";
  CHECK(FileOfSamples("").complaint() == ": contains no samples with seconds_min");
  CHECK(FileOfSamples(header).complaint() == ": contains no samples with seconds_min");
  CHECK(FileOfSamples("level,pattern,size\nnode,pingpong,8\n").complaint() ==
        ":1: no column 'bytes'; is this a sample file of 'rubato calibrate'?");
  CHECK(FileOfSamples(header + "node,pingpong,8,1e-6\nnode,pingpong,eight,1e-6\n").complaint() ==
        ":3: 'eight' is not a valid number of bytes");
  CHECK(FileOfSamples(header + "node,pingpong,-8,1e-6\n").complaint() ==
        ":2: '-8' is not a valid number of bytes");
  CHECK(FileOfSamples(header + "node,pingpong,8,0\n").complaint() ==
        ":2: seconds_min is '0', expected a time greater than 0");
  CHECK(FileOfSamples(header + "node,pingpong,8,inf\n").complaint() ==
        ":2: seconds_min is 'inf', expected a time greater than 0");
  CHECK(FileOfSamples(header + "node\n").complaint() == ":2: a row without level or pattern");
  CHECK_THROWS_AS(read_sample_file("/no/such/file.csv", "seconds_min"), InputError);
}

TEST_CASE("other contents of a sample file") {
  const FileOfSamples file(
      "level,pattern,bytes,messages,seconds_min,seconds_min_even,seconds_min_odd\n"
      "node,eager,4096,,,,\n"
      "node,burst,8,16,1e-6,1.1e-6,1e-6\n"
      "node,burst,9,16,1e-6,,\n"
      "# mpi: Open MPI 4.1.4\n"
      "# command: rubato calibrate -o x.toml: really\n"
      "# for people: nothing\n"
      "#\n"
      "# mpi: MPICH\n");
  const SampleFile content = read_sample_file(file.path, "seconds_min");
  REQUIRE(content.rows.size() == 2);
  CHECK(content.rows[0].messages == 16);
  CHECK(content.rows[0].half[0] == 1.1e-6);
  CHECK(content.rows[0].half[1] == 1e-6);
  CHECK(content.rows[1].half[0] == 0);
  REQUIRE(content.probes.size() == 1);
  CHECK(content.probes[0].pattern == "eager");
  CHECK(content.probes[0].bytes == 4096);
  CHECK(content.measured ==
        std::map<std::string, std::string>{{"mpi", "Open MPI 4.1.4"},
                                           {"command", "rubato calibrate -o x.toml: really"}});
}

TEST_CASE("the samples of a level are put together from launches") {
  const std::string header =
      "level,pattern,bytes,messages,seconds_min,launch,seconds_min_even,seconds_min_odd\n";
  // One launch keeps its halves; several are halved themselves. Launches 1, 2, 3 took 1, 4, 3 us:
  // median 3 us, of the first and third (1 + 3) / 2 = 2 us, of the second 4 us.
  const FileOfSamples file(
      header +
      "node,pingpong,8,1,1e-6,1,1e-6,1.5e-6\nnode,pingpong,8,1,4e-6,2,4e-6,5e-6\n"
      "node,pingpong,8,1,3e-6,3,3e-6,4e-6\nnode,pingpong,16,1,2e-6,1,2e-6,2.5e-6\n"
      "node,burst,8,16,5e-6,1,5e-6,5e-6\nnode,single,8,1,2e-6,1,2e-6,2e-6\n"
      "node,eager,4096,1,,1,,\nnode,waiting,4097,1,,1,,\n"
      "node,eager,4000,1,,2,,\nnode,waiting,4001,1,,2,,\n"
      "self,sendrecv,8,1,1e-7,1,1e-7,1e-7\nself,eager,64,1,,1,,\n"
      "node,send_overhead,8,1,2e-7,1,2e-7,2e-7\nnode,sender_computes,8192,1,3e-6,1,,\n"
      "node,overlap,8,1,1e-6,1,,\nnode,overlap,64,1,1e-6,1,,\nnode,ring,8,1,1e-6,1,,\n");
  const SampleFile content = read_sample_file(file.path, "seconds_min");
  CHECK(rows_of_no_use(content) == 2);  // the overlap; a ring is checked (checked_patterns())
  const auto levels = sampled_levels(content, "x.csv");
  REQUIRE(levels.size() == 2);
  const LevelSamples& node = levels.at(Level::kNode);
  REQUIRE(node.transfer.size() == 2);
  CHECK(node.transfer[0].seconds == 3e-6);
  CHECK(node.transfer[0].half[0] == Approx(2e-6));
  CHECK(node.transfer[0].half[1] == 4e-6);
  CHECK(node.transfer[0].launches == 3);
  // 1, 4 and 3 us: s = sqrt((25/9 + 16/9 + 1/9) / 2) = 1.5275, s / sqrt(3) = 0.8819, times sqrt(pi
  // / 2) 1.1053, / 3.
  CHECK(node.transfer[0].launch_error == Approx(0.36844).epsilon(1e-4));
  CHECK(node.transfer[1].half[1] == 2.5e-6);
  CHECK(node.transfer[1].launches == 1);
  REQUIRE(node.burst.size() == 1);
  CHECK(node.burst[0].messages == 16);
  CHECK(node.single.size() == 1);
  REQUIRE(node.overheads.send.size() == 1);
  CHECK(node.overheads.send[0].seconds == 2e-7);
  REQUIRE(node.overlap.sender_computes.size() == 1);
  CHECK(node.overlap.sender_computes[0].bytes == 8192);
  CHECK(node.probe.eager == 4096.);  // early once is proof
  CHECK(node.probe.waiting == 4097.);
  const LevelSamples& self = levels.at(Level::kSelf);
  CHECK(self.probe.eager == 64.);
  CHECK(!self.probe.waiting);

  // Two launches of 2 and 3 us: their median is the mean, 2.5 us, and 1.4826 * 0.5 / 2.5 off.
  const FileOfSamples two(header + "node,pingpong,8,1,2e-6,1,,\nnode,pingpong,8,1,3e-6,2,,\n");
  const auto of_two = sampled_levels(read_sample_file(two.path, "seconds_min"), "x.csv");
  CHECK(of_two.at(Level::kNode).transfer[0].launch_error == Approx(0.29652));

  const FileOfSamples wrong(header + "netwrk,pingpong,8,1,1e-6,1,,\n");
  CHECK_THROWS_WITH(sampled_levels(read_sample_file(wrong.path, "seconds_min"), "x.csv"),
                    "x.csv: there is no level 'netwrk' (did you mean 'network'?)");
}

TEST_CASE("medians of loops count on request") {
  const std::string header =
      "level,pattern,bytes,messages,seconds_min,launch,seconds_min_even,seconds_min_odd,"
      "seconds_median,seconds_median_even,seconds_median_odd\n";
  const FileOfSamples file(header +
                           "node,pingpong,8,1,1e-6,1,1e-6,2e-6,5e-6,4e-6,6e-6\n"
                           "node,pairs_2,8,1,3e-6,1,3e-6,4e-6,7e-6,7e-6,7e-6\n");
  const SampleFile content = read_sample_file(file.path, "seconds_min");
  const auto eight = [&](OfLoops of_loops) {
    return sampled_levels(content, "x.csv", of_loops).at(Level::kNode).transfer.at(0);
  };
  CHECK(eight(OfLoops::kLeast).seconds == 1e-6);
  CHECK(eight(OfLoops::kLeast).half[1] == 2e-6);
  CHECK(eight(OfLoops::kMedian).seconds == 5e-6);
  CHECK(eight(OfLoops::kMedian).half[0] == 4e-6);
  CHECK(eight(OfLoops::kMedian).half[1] == 6e-6);
  CHECK(loaded_times(content, "x.csv").at(Level::kNode).at(0).seconds == 3e-6);
  CHECK(loaded_times(content, "x.csv", OfLoops::kMedian).at(Level::kNode).at(0).seconds == 7e-6);

  // The file says how it was calibrated.
  CHECK(counted_of_loops(content) == OfLoops::kLeast);
  const FileOfSamples median(header + "node,pingpong,8,1,1e-6,1,,,5e-6,,\n# time: median\n");
  CHECK(counted_of_loops(read_sample_file(median.path, "seconds_min")) == OfLoops::kMedian);
  CHECK_THROWS_WITH(rubato::of_loops_named("mean"), "--time: 'mean' is neither min nor median");

  const FileOfSamples old(header + "node,pingpong,8,1,1e-6,1,,,,,\n");
  CHECK_THROWS_WITH(
      sampled_levels(read_sample_file(old.path, "seconds_min"), "old.csv", {OfLoops::kMedian}),
      "old.csv: node pingpong of 8 bytes has no seconds_median; fit samples of older versions "
      "with --time min");
}

TEST_CASE("a launch that timed a length several times is one launch") {
  // Launch 1 took 1, 2 and 9 us: 2 us; launch 2 took 4 us. Median of the two: 3 us. As four
  // launches it would be (2 + 4) / 2 = 3 us as well, but with the halves (1 + 9) / 2 and (2 + 4)
  // / 2.
  const FileOfSamples file(
      "level,pattern,bytes,seconds_min,launch,processes\n"
      "node,pingpong,8,1e-6,1,\nnode,pingpong,8,2e-6,1,\nnode,pingpong,8,9e-6,1,\n"
      "node,pingpong,8,4e-6,2,\n"
      "node,bcast,8,1e-6,1,4\nnode,bcast,8,3e-6,1,4\nnode,bcast,8,4e-6,2,4\n");
  const SampleFile content = read_sample_file(file.path, "seconds_min");
  const TimedLength length = sampled_levels(content, "x.csv").at(Level::kNode).transfer.at(0);
  CHECK(length.launches == 2);
  CHECK(length.seconds == Approx(3e-6));
  CHECK(length.half[0] == Approx(2e-6));
  CHECK(length.half[1] == Approx(4e-6));
  const auto bcast = sampled_collectives(content).times.at(CollectiveOp::kBcast).at(0);
  REQUIRE(bcast.seconds.size() == 2);
  CHECK(bcast.seconds[0] == Approx(2e-6));
  CHECK(bcast.seconds[1] == Approx(4e-6));
}

TEST_CASE("times of several pairs at once, the median of launches") {
  const FileOfSamples file(
      "level,pattern,bytes,seconds_min,launch\n"
      "node,pairs_1,65536,1e-6,1\nnode,pairs_1,65536,3e-6,2\nnode,pairs_1,65536,9e-6,3\n"
      "network,pairs_2,8,5e-6,1\nnetwork,overlap,8,1e-6,1\n");
  const SampleFile content = read_sample_file(file.path, "seconds_min");
  const auto times = loaded_times(content, "x.csv");
  REQUIRE(times.size() == 2);
  REQUIRE(times.at(Level::kNode).size() == 1);
  CHECK(times.at(Level::kNode)[0].live == 1);
  CHECK(times.at(Level::kNode)[0].bytes == 65536);
  CHECK(times.at(Level::kNode)[0].seconds == 3e-6);
  CHECK(times.at(Level::kNetwork)[0].live == 2);
  CHECK(rows_of_no_use(content) == 1);  // the overlap
}

TEST_CASE("collectives are read with their processes, medians and limits") {
  const FileOfSamples file(
      "level,pattern,bytes,seconds_min,launch,processes,seconds_median,interval\n"
      "node,pingpong,8,1e-6,1,,,\n"
      "node,bcast,8,1e-6,1,4,2e-6,0.1\n"
      "node,bcast,8,1e-6,2,4,4e-6,0.3\n"
      "node,bcast,8,1e-6,1,2,1e-6,\n"
      "network,gather,8,5e-6,1,2,6e-6,\n"
      "node,gather,8,1e-6,1,4,2e-6,\n"
      "node,held bcast,4096,,1,4,,\n"
      "node,held bcast,2048,,2,4,,\n");
  const SampleFile content = read_sample_file(file.path, "seconds_min");
  CHECK(operation_of(content.rows[0]) == "node pingpong");
  CHECK(seconds_of_launch(content.rows[0], OfLoops::kLeast) == 1e-6);
  CHECK(operation_of(content.rows[1]) == "node bcast p=4");
  CHECK(seconds_of_launch(content.rows[1], OfLoops::kLeast) == 2e-6);
  const MeasuredCollectives measured = sampled_collectives(content);
  REQUIRE(measured.times.size() == 2);
  const std::vector<CollectiveTimes>& bcast = measured.times.at(CollectiveOp::kBcast);
  REQUIRE(bcast.size() == 2);
  CHECK(bcast[0].processes == 2);
  CHECK(bcast[1].seconds == std::vector<double>{2e-6, 4e-6});
  CHECK(bcast[1].relative_error == Approx(0.15));  // half of the larger interval
  // Between nodes where there are nodes.
  REQUIRE(measured.times.at(CollectiveOp::kGather).size() == 1);
  CHECK(measured.times.at(CollectiveOp::kGather)[0].processes == 2);
  CHECK(measured.held_from == std::map<CollectiveOp, double>{{CollectiveOp::kBcast, 2048.}});
  // Curves of messages are not made of them.
  CHECK(sampled_levels(content, "x.csv").size() == 1);

  const std::string header = "level,pattern,bytes,seconds_min,processes,seconds_median\n";
  CHECK(FileOfSamples(header + "node,bcast,8,1e-6,0,1e-6\n").complaint() ==
        ":2: '0' is not a valid number of processes");
  CHECK(FileOfSamples(header + "node,bcast,8,1e-6,2,-1\n").complaint() ==
        ":2: seconds_median is '-1', expected a time greater than 0");
}
