// Output of other benchmarks. The texts are written after the formats that the tools print; their
// times are made up: 1 us + n / 1 GB/s one way, so 1.008 us for 8 B, 2.024 us for 1 KiB, 66.536 us
// for 64 KiB and 1049.576 us for 1 MiB.

#include "tools/calibration/foreign_samples.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <map>
#include <regex>

#include "models/base/error.h"
#include "tools/calibration/call_formulas.h"
#include "tools/calibration/sample_fit.h"

using namespace rubato;

namespace {

class TextFile {
 public:
  explicit TextFile(const std::string& text) { std::ofstream(path_) << text; }
  ~TextFile() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_ = "foreign_samples_test." + std::to_string(getpid()) + ".txt";
};

ForeignSamples read(const std::string& text) {
  return read_foreign_samples(TextFile(text).path(), 64);
}

std::string complaint(const std::string& text) {
  const TextFile file(text);
  try {
    read_foreign_samples(file.path(), 64);
  } catch (const InputError& error) {
    return std::string(error.what()).substr(file.path().size());
  }
  return "";
}

/// Sizes and microseconds of the rows of a pattern.
std::vector<std::pair<double, double>> series(const std::vector<SampleRow>& rows,
                                              const std::string& pattern) {
  std::vector<std::pair<double, double>> times;
  for (const SampleRow& row : rows) {
    if (row.pattern == pattern) times.emplace_back(row.bytes, row.seconds * 1e6);
  }
  return times;
}

using Series = std::vector<std::pair<double, double>>;

void check(const Series& got, const Series& expected) {
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    CHECK(got[i].first == expected[i].first);
    CHECK(got[i].second == Approx(expected[i].second));
  }
}

const char* const kLatency =
    "\n# OSU MPI Latency Test v5.9\n"
    "# Size          Latency (us)\n"
    "0                       1.00\n"
    "8                      1.008\n"
    "1024                   2.024\n"
    "65536                 66.536\n"
    "1048576             1049.576\n";

}  // namespace

TEST_CASE("osu_latency in the headers of several versions") {
  const Series expected = {{0, 1}, {8, 1.008}, {1024, 2.024}, {65536, 66.536}, {1048576, 1049.576}};
  const ForeignSamples plain = read(kLatency);
  CHECK(plain.benchmark == "OSU");
  check(series(plain.rows, "pingpong"), expected);
  // MVAPICH of 2005; with blank lines and a warning of mpirun between.
  check(series(read("# OSU MPI Latency Test (Version 2.0)\n\n# Size\t\tLatency (us)\n\n"
                    "WARNING: something\n8\t1.008\n1024\t2.024\n")
                   .rows,
               "pingpong"),
        {{8, 1.008}, {1024, 2.024}});
  // 7.x with -f; the minimum is taken. With GPU buffers, and labels of srun.
  check(series(
            read("0: # OSU MPI-CUDA Latency Test v7.5\r\n0: # Datatype: MPI_CHAR.\r\n"
                 "0: # Size       Avg Latency(us)  Min Latency(us)  Max Latency(us)  Iterations\r\n"
                 "0: 8                      1.5             1.008              9.9       10000\r\n"
                 "0: 1024                   2.5             2.024              9.9       10000\r\n")
                .rows,
            "pingpong"),
        {{8, 1.008}, {1024, 2.024}});
  // Other launchers' labels.
  for (const std::string label : {"[1,0]<stdout>:", "[job@1,0]<stdout>: ", "[0] "}) {
    check(series(read(label + "# OSU MPI Latency Test v7.2\n" + label +
                      "# Size       Avg Latency(us)\n" + label + "8         1.008\n")
                     .rows,
                 "pingpong"),
          {{8, 1.008}});
  }
  // OMB-Py.
  const char* size = "# Size (B)       Latency (us)\n8                   1.008\n";
  check(series(read(std::string("# OMB Python MPI Latency Test\n") + size).rows, "pingpong"),
        {{8, 1.008}});
  for (const std::string title : {"Allreduce", "MPI_Allreduce", "Allreduce Latency"}) {
    check(series(read("# OMB Python MPI " + title + " Test\n" + size).rows, "allreduce"),
          {{8, 1.008}});
  }
  check(series(read("# OSU MPI Multi Latency Test v5.9\n# Size          Latency (us)\n"
                    "8                      1.008\n")
                   .rows,
               "pingpong"),
        {{8, 1.008}});
}

TEST_CASE("osu_bw together with osu_latency gives the gap of a burst") {
  // A window of 64 messages: 64 g + T(n) - g, and the answer's T(0) = 1 us back, with g = n / 2
  // GB/s. 1 KiB: g = 0.512 us; 63 * 0.512 + 2.024 + 1 = 35.28 us for 65536 B: 1857.6 MB/s. 64 KiB:
  // g = 32.768 us; 63 * 32.768 + 66.536 + 1 = 2131.92 us for 4194304 B: 1967.384 MB/s. 1 MiB: g =
  // 524.288; 63 * 524.288 + 1049.576 + 1 = 34080.72 us for 67108864 B: 1969.115 MB/s.
  ForeignSamples bandwidth = read(
      "# OSU MPI Bandwidth Test v5.9\n# Size      Bandwidth (MB/s)\n"
      "1024              1857.596\n65536              1967.384\n1048576         1969.115\n");
  std::vector<SampleRow> rows = read(kLatency).rows;
  rows.insert(rows.end(), bandwidth.rows.begin(), bandwidth.rows.end());
  const std::vector<SampleRow> calibrated = as_calibrated(rows);
  check(series(calibrated, "single"), {{1024, 2.024}, {65536, 66.536}, {1048576, 1049.576}});
  // Without the answer.
  check(series(calibrated, "burst"), {{1024, 34.28}, {65536, 2130.92}, {1048576, 34079.72}});

  SampleFile samples;
  for (SampleRow row : calibrated) {
    row.level = "network";
    samples.rows.push_back(row);
  }
  const LevelFit fit = fit_level(sampled_levels(samples, "here").at(Level::kNetwork));
  REQUIRE(fit.transfer);
  REQUIRE(fit.gap);
  CHECK((*fit.transfer)(4096) == Approx(5.096e-6).epsilon(0.01));
  CHECK((*fit.gap)(65536) == Approx(32.768e-6).epsilon(0.01));
  // Unknown without the latencies.
  CHECK(as_calibrated(bandwidth.rows).empty());
}

TEST_CASE("IMB: message tables and collectives, several in one output") {
  const std::string text =
      "#------------------------------------------------------------\n"
      "#    Intel(R) MPI Benchmarks 2021.3, MPI-1 part\n"
      "#------------------------------------------------------------\n"
      "# MPI Version           : 3.1\n\n"
      "# Benchmarking PingPong \n# #processes = 2 \n"
      "#---------------------------------------------------\n"
      "       #bytes #repetitions      t[usec]   Mbytes/sec\n"
      "            0         1000         1.00         0.00\n"
      "            8         1000        1.008         7.94\n"
      "         1024         1000        2.024       505.93\n\n"
      "# Benchmarking Sendrecv \n# #processes = 2 \n"
      "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec\n"
      "            8         1000         1.40         1.60         1.50        10.67\n\n"
      "# Benchmarking Exchange \n# #processes = 2 \n"
      "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec\n"
      "            8         1000         2.40         2.60         2.50        12.80\n\n"
      "# Benchmarking Allreduce \n# #processes = 4 \n# ( 4 additional processes waiting in "
      "MPI_Barrier)\n"
      "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
      "            8         1000         2.90         3.10         3.00\n\n"
      "# Benchmarking Barrier \n# #processes = 4 \n"
      " #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
      "         1000         1.90         2.10         2.00\n\n"
      "# All processes entering MPI_Finalize\n";
  const ForeignSamples imb = read(text);
  CHECK(imb.benchmark == "IMB");
  // Launchers label blank lines, too.
  for (const std::string label : {"0: ", "[1,0]<stdout>:", "[0] "}) {
    const ForeignSamples same =
        read(std::regex_replace(text, std::regex("\n(?=.|\n)"), "\n" + label));
    CHECK(same.rows.size() == imb.rows.size());
    check(series(same.rows, "pingpong"), {{0, 1}, {8, 1.008}, {1024, 2.024}});
    check(series(same.rows, "barrier"), {{0, 2}});
  }
  check(series(imb.rows, "pingpong"), {{0, 1}, {8, 1.008}, {1024, 2.024}});
  check(series(imb.rows, "sendrecv"), {{8, 1.5}});
  check(series(imb.rows, "allreduce"), {{8, 3}});
  check(series(imb.rows, "barrier"), {{0, 2}});
  for (const SampleRow& row : imb.rows) {
    CHECK(row.messages == 1);
    CHECK(row.processes == (row.pattern == "allreduce" || row.pattern == "barrier" ? 4 : 0));
  }
  // Exchange is four messages at once, where ours is two.
  check(series(as_calibrated(imb.rows), "exchange"), {});
  check(series(as_calibrated(imb.rows), "imb_exchange"), {{8, 2.5}});
  // A Sendrecv does not count as ping-pong if there is one.
  check(series(as_calibrated(imb.rows), "sendrecv"), {});
  check(series(as_calibrated(read("# Benchmarking Sendrecv\n# #processes = 2\n"
                                  "#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]\n"
                                  "8 1000 1.4 1.6 1.5\n")
                                 .rows),
               "sendrecv"),
        {{8, 1.5}});
}

TEST_CASE("IMB's collectives on several numbers of processes become a formula") {
  // 5 us + 2 us log2 p + d log2 p / (1 GB/s), so p = 2: 7 us + d ns, p = 4: 9 us + 2 d ns and p =
  // 8: 11 us + 3 d ns.
  const char* const columns = "#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]\n";
  std::string text;
  for (const int log_p : {1, 2, 3}) {
    text +=
        "\n# Benchmarking Allreduce\n# #processes = " + std::to_string(1 << log_p) + "\n" + columns;
    for (const int d : {8, 64, 512, 4096, 32768}) {
      text += std::to_string(d) + " 1000 0 0 " + std::to_string(5 + 2 * log_p + 1e-3 * log_p * d) +
              "\n";
    }
  }
  // Of 4096 bytes each of the four gets 1024.
  text += std::string("\n# Benchmarking Reduce_scatter\n# #processes = 4\n") + columns +
          "4096 1000 0 0 3.5\n";
  SampleFile samples;
  for (SampleRow row : as_calibrated(read(text).rows)) {
    row.level = "network";
    samples.rows.push_back(row);
  }
  const MeasuredCollectives measured = sampled_collectives(samples);
  REQUIRE(measured.times.count(CollectiveOp::kAllreduce));
  CHECK(measured.times.at(CollectiveOp::kAllreduce).size() == 15);
  const CollectiveTimes& scattered = measured.times.at(CollectiveOp::kReduceScatter).front();
  CHECK(scattered.processes == 4);
  CHECK(scattered.bytes == 1024);
  // On 16 processes and 1000 bytes: 5 + 2 * 4 + 4 = 17 us.
  const CollectiveFit fit = fit_collectives(measured).at(CollectiveOp::kAllreduce);
  CHECK(covers_processes(fit));
  CHECK(fit.whole(16, 1000) == Approx(17e-6).epsilon(1e-3));
}

TEST_CASE("OSU collectives keep their operation, unused tables are skipped") {
  const char* rows = "# Size       Avg Latency(us)\n8                       3.00\n";
  for (const auto& [title, pattern] :
       std::map<std::string, std::string>{{"Allreduce", "allreduce"},
                                          {"Broadcast", "bcast"},
                                          {"All-to-All Personalized Exchange", "alltoall"},
                                          {"Reduce_scatter", "reduce_scatter"}}) {
    check(series(read("# OSU MPI " + title + " Latency Test v5.9\n" + rows).rows, pattern),
          {{8, 3}});
  }
  CHECK(complaint("# OSU MPI Bi-Directional Bandwidth Test v5.9\n# Size      Bandwidth (MB/s)\n"
                  "8                       3.00\n") ==
        ": contains no table of messages or collectives in the output of OSU");
}

TEST_CASE("NetPIPE's screen and its np.out") {
  // 8 B in 1.008 us are 63.49 Mbit/s, 60.55 where a Mbit has 2^20 bits.
  check(series(read("Now starting the main loop\n"
                    "  0:       8 bytes   9652 times -->     60.55 Mbps in       1.008 usec\n"
                    "  1:    1024 bytes   9652 times -->   3859.97 Mbps in       2.024 usec\n")
                   .rows,
               "pingpong"),
        {{8, 1.008}, {1024, 2.024}});
  check(series(read("       8 60.550000   0.00000101\n    1024 3859.970000   0.00000202\n").rows,
               "pingpong"),
        {{8, 1.01}, {1024, 2.02}});
}

TEST_CASE("output that cannot be read is refused with the line") {
  CHECK(complaint("hello\n") ==
        ": is not output of the OSU micro-benchmarks, the Intel MPI Benchmarks or NetPIPE");
  CHECK(complaint("") != "");
  CHECK(complaint("# OSU MPI Latency Test v5.9\n# Size          Latency (ms)\n8   1.0\n") ==
        ":2: 'Latency (ms)' is not in microseconds");
  CHECK(complaint("# OSU MPI Latency Test v5.9\n# Size          Latency (us)\n8   nan\n") ==
        ":3: 'nan' is not a non-negative number");
  CHECK(complaint("# OSU MPI Latency Test v5.9\n# Size          Latency (us)\n8\n") ==
        ":3: the row is truncated");
  CHECK(complaint("# OSU MPI Latency Test v5.9\n# Size          Latency (us)\n8  0.00\n") ==
        ":3: a time of 0; measure again with more repetitions");
  CHECK(complaint("1024 5 7\n") ==
        ":1: this is not output of the OSU micro-benchmarks, the Intel MPI Benchmarks or NetPIPE");
  CHECK_THROWS_WITH(read_foreign_samples("nowhere.txt", 64), "nowhere.txt: cannot be read");
}
