#include "tracer/report/sums_file.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>

#include "tests/unit/directory.h"
#include "tests/unit/small_sums.h"

using namespace rubato;
namespace fs = std::filesystem;

namespace {

/// The run of small_sums(), as rank 0 gets it.
JobReport small_job() {
  JobReport job;
  job.command = "./app <\"in.txt\"";
  job.mpi_library = "Open MPI";
  job.summary = "summary: 2 ranks, elapsed 1.25 s";
  job.call_names = {"MPI_Send", "MPI_Recv", "MPI_Get"};
  job.ranks.resize(2);
  CallRow send, receive, get;
  send.call = 0;
  send.calls = send.timed = 5;
  send.time = send.numbered = 0.25;
  send.least = 0.01;
  send.most = 0.1;
  send.sizes = {{true, 2, 5, 15}};
  receive.call = 1;
  receive.calls = receive.timed = 5;
  receive.time = receive.numbered = 0.5;
  receive.least = 0.0625;
  receive.most = 0.25;
  receive.bytes_completed = 15;
  receive.waits.late_sender = 0.125;
  receive.sizes = {{false, 2, 5, 15}};
  get.call = 2;
  get.calls = 1;
  get.sizes = {{false, 3, 1, 7}};
  job.ranks[0].calls = {get, send};
  job.ranks[1].calls = {receive};
  job.outside = 0.0125;  // of 5 calls of a rank that count: 0.0625 s
  job.ranks[0].compute = 0.8125;
  job.ranks[1].compute = 0.5;
  job.ranks[0].threads = job.ranks[1].threads = 1;
  job.ranks[0].start = job.ranks[0].starts = 10;
  job.ranks[0].end = job.ranks[0].ends = 11;
  job.ranks[1].start = job.ranks[1].starts = 10.25;
  job.ranks[1].end = job.ranks[1].ends = 11.25;
  job.ranks[0].pairs = {{1, 5, 15, 1, 7, 0}};
  job.ranks[1].pairs = {{0, 0, 0, 0, 0, 0.5}};
  return job;
}

std::string text_of(const JobReport& job) {
  std::string text;
  CHECK(sums_text(job, [&](const std::string& part) {
    text += part;
    return true;
  }));
  return text;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("sums that cannot be written are reported, whichever part fails") {
  // The head, two ranks, the end.
  for (int good = 0; good <= 4; ++good) {
    int written = 0;
    CHECK(sums_text(small_job(), [&](const std::string&) { return written++ < good; }) ==
          (good == 4));
  }
}

TEST_CASE("a file of sums has the calls of each rank, and what was read is sent by its owner") {
  JobReport job = small_job();
  complete(job);
  CHECK(text_of(job) == small_sums());
}

TEST_CASE("ranks arrive at rank 0 as they are") {
  JobReport job = small_job();
  for (RankReport& rank : job.ranks) {
    RankReport arrived = RankReport::unpack(rank.pack());
    for (size_t i = 0; i < rank.calls.size(); ++i) arrived.calls[i].waits = rank.calls[i].waits;
    rank = arrived;  // (rank 0 finds the waits)
  }
  complete(job);
  CHECK(text_of(job) == small_sums());
}

TEST_CASE("a file of sums adds up the addresses of a line, and tells lines apart") {
  JobReport job = small_job();
  job.call_sites = true;
  CallRow row = job.ranks[0].calls[1];
  row.site = "app.c:7";
  job.ranks[0].calls = {row, row, job.ranks[0].calls[1]};
  complete(job);
  const std::string text = text_of(job);
  CHECK(has(text, R"({"call": "MPI_Send", "call_site": "", "calls": 5, )"));
  // 2 * 5 calls, 2 * 0.25 s; the shortest and the longest are those of one address.
  CHECK(has(text, R"({"call": "MPI_Send", "call_site": "app.c:7", "calls": 10, "calls_timed": 10, )"
                  R"("time": 0.5, "time_min": 0.01, "time_max": 0.1, )"));
}

TEST_CASE("a file of sums without known waits has none, and is JSON whatever the names are") {
  JobReport job = small_job();
  job.ranks[1].waits_known = false;
  job.ranks[1].compute = std::numeric_limits<double>::quiet_NaN();
  job.command = "a\n\xff\\";
  complete(job);
  const std::string text = text_of(job);
  CHECK(has(text, R"("waits_known": false)"));
  CHECK(!has(text, "late_sender"));
  CHECK(has(text, R"("compute": null)"));
  // 0xff in Latin-1 is U+00FF.
  CHECK(has(text, "\"command\": \"a\\n\xc3\xbf\\\\\""));
}

TEST_CASE("a file of sums takes a free name, and is whole or not there") {
  const TemporaryDirectory directory;
  JobReport job = small_job();
  complete(job);
  const std::string file = directory.path() / "sums.json";
  CHECK(write_sums_file(job, file) == file);
  const std::string second = directory.path() / "sums-2.json";
  CHECK(write_sums_file(job, file) == second);
  std::ifstream in(second);
  CHECK(std::string(std::istreambuf_iterator<char>(in), {}) == small_sums());
  CHECK(std::distance(fs::directory_iterator(directory.path()), {}) == 2);
  CHECK(write_sums_file(job, directory.path() / "nowhere/sums.json").empty());
  CHECK(errno == ENOENT);
}
