#include "tracer/report/report_page.h"

#include <catch2/catch.hpp>
#include <map>

#include "tracer/report/report_tables.h"

using namespace rubato;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Two ranks: rank 0 sends 5 messages of 3 bytes to rank 1, and reads 7 bytes from it.
JobReport small_job() {
  JobReport job;
  job.command = "./app <in.txt";
  job.summary = "summary: 2 ranks, elapsed 1 s";
  job.call_names = {"MPI_Send", "MPI_Recv", "MPI_Get"};
  job.ranks.resize(2);
  CallRow send, receive, get;
  send.call = 0;
  send.calls = send.timed = 5;
  send.time = 0.25;
  send.least = 0.01;
  send.most = 0.1;
  send.sizes = {{true, 2, 5, 15}};
  receive.call = 1;
  receive.calls = receive.timed = 5;
  receive.time = 0.5;
  receive.bytes_completed = 15;
  receive.sizes = {{false, 2, 5, 15}};
  get.call = 2;
  get.calls = 1;
  get.sizes = {{false, 3, 1, 7}};
  job.ranks[0].calls = {send, get};
  job.ranks[1].calls = {receive};
  job.ranks[0].compute = 0.75;
  job.ranks[1].compute = 0.5;
  job.ranks[0].pairs = {{1, 5, 15, 1, 7, 0}};
  job.ranks[1].pairs = {{0, 0, 0, 0, 0, 0.5}};
  return job;
}

std::map<std::string, std::string> files_of(const JobReport& job) {
  std::map<std::string, std::string> files;
  CHECK(write_tables(job, [&](const std::string& name, const std::string& text) {
    files[name] = text;
    return true;
  }));
  return files;
}

}  // namespace

TEST_CASE("tables have a column per function, and what was read is sent by its owner") {
  JobReport job = small_job();
  complete(job);
  const auto files = files_of(job);
  CHECK(files.at("time.tsv") ==
        "# time by rank and function; seconds\n"
        "rank\tcompute\tMPI_Send\tMPI_Recv\n0\t0.75\t0.25\t0\n1\t0.5\t0\t0.5\n");
  CHECK(has(files.at("bytes_received.tsv"), "rank\tMPI_Recv\tMPI_Get\n0\t0\t7\n1\t15\t0\n"));
  CHECK(has(files.at("sizes.tsv"), "0\tMPI_Send\tsend\t2\t5\t15\n"));
  // 5 messages one way, one transfer the other.
  CHECK(has(files.at("matrix.tsv"), "\n0\t1\t15\t5\t0\n1\t0\t7\t1\t0.5\n"));
  CHECK(has(files.at("calls.tsv"), "0\tMPI_Send\t5\t0.25\t0\t0.01\t0.05\t0.1\t0\n"));
  CHECK(files.count("call_sites.tsv") == 0);
}

TEST_CASE("a report without known waits says so, and has no table of them") {
  JobReport job = small_job();
  job.ranks[1].waits_known = false;
  complete(job);
  CHECK(files_of(job).count("waits.tsv") == 0);
  const std::string page = report_page(job);
  CHECK(has(page, "Waits are not known"));
  CHECK(has(page, "<h1>2 ranks, elapsed 1 s</h1>"));
  CHECK(has(page, "./app &lt;in.txt"));
  CHECK(!has(page, "late sender"));
}

TEST_CASE("the page of 1,024 ranks that all exchange messages has at most 5 MB") {
  JobReport job;
  job.summary = "summary: 1,024 ranks";
  job.call_sites = true;
  job.ranks.resize(1024);
  for (int call = 0; call < 30; ++call)
    job.call_names.push_back("MPI_Function_" + std::to_string(call));
  for (size_t rank = 0; rank < job.ranks.size(); ++rank) {
    for (unsigned call = 0; call < 30; ++call) {
      CallRow row;
      row.call = call;
      row.site = "src/solver/exchange.cc:" + std::to_string(call);
      row.calls = row.timed = 1234567;
      row.time = 123.456 / (call + 1);
      for (unsigned size = 0; size < 20; ++size)
        row.sizes.push_back({true, size, 1000000, uint64_t{1000000} << size});
      job.ranks[rank].calls.push_back(row);
    }
    for (int peer = 0; peer < 1024; ++peer)
      job.ranks[rank].pairs.push_back({peer, 1000, 8000000, 0, 0, 0.5});
  }
  complete(job);
  const std::string page = report_page(job);
  CHECK(page.size() < 5000000);
  CHECK(has(page, "a cell is 16 ranks each way"));
  CHECK(has(page, "22 others"));
}
