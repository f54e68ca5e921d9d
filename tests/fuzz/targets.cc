#include "tests/fuzz/targets.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "models/platform/platform_file.h"
#include "models/scenario/scenario.h"
#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"
#include "tests/fixture/otf2_archive.h"
#include "tests/fuzz/killed_run_target.h"
#include "tests/fuzz/target_parts.h"
#include "tools/calibration/foreign_samples.h"
#include "tools/files/sample_file.h"
#include "tools/report/report_json.h"

namespace fs = std::filesystem;
using namespace rubato;

namespace {

using Texts = std::vector<std::string>;

Texts files_of(const fs::path& directory) {
  Texts texts;
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (entry.path().extension() == ".toml") texts.push_back(file_bytes(entry.path()));
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

// --- Platform files ---

void read_platform(const std::string& bytes) {
  answer([&] {
    const Platform platform = parse_platform(bytes, "fuzz.toml");
    platform_warnings(bytes, "fuzz.toml");
    // Written output is read again.
    parse_platform(format_platform(platform), "again.toml");
  });
  answer([&] { load_network(put_file(fuzz_directory() / "network.toml", bytes)); });
}

Texts platform_seeds(const std::string& share) {
  Texts texts = files_of(fs::path(share) / "platforms");
  const Texts networks = files_of(fs::path(share) / "networks");
  texts.insert(texts.end(), networks.begin(), networks.end());
  return texts;
}

// --- Scenarios ---

void read_scenario(const std::string& bytes) {
  answer([&] {
    const Scenario scenario = parse_scenario(bytes);
    static const char* const kText = R"(
      nodes 0 0 1
      0: 0..5 send 2 8B
      0: 10..20 allreduce 8B 8B
      1: 10..20 allreduce 8B 8B
      2: 0..9 recv 0 8B
      2: 10..20 allreduce 8B 8B
    )";
    const auto source = parse_text_trace(kText);
    report_json(run_replay(*source, {scenario}, {}));
  });
}

Texts scenario_seeds(const std::string& share) {
  return {"measured:cpu*2,rank0.cpu*0.5,region=solve*0.5",
          "undisturbed:local",
          "perfect:ppn=4,placement=roundrobin:2,sockets=2,name=new",
          "bandela:latency=2us,bandwidth=10GB/s,overhead*2,dr=5",
          "loggps:L=2us,o=0.3us,g=0.5us,G=0.1ns,S=64KiB",
          share +
              "/platforms/infiniband-hdr.toml:latency*0.5,bandwidth*2,collectives=openmpi,"
              "allreduce=ring,contention=fair",
          "bandela:contention=degradation,contention.dr*2,network.latency=1us"};
}

// --- Text traces ---

void read_text_trace(const std::string& bytes) {
  answer([&] {
    // Ranks without calls are refused, but a thread costs memory for each number below its own.
    const auto source = parse_text_trace(bytes, "fuzz.txt");
    if (source->definitions().timelines() > 1000) return;
    replay_everywhere(*source);
  });
}

Texts text_seeds(const std::string&) {
  return {R"(nodes 0 0 1
sockets 0 1 0
comm 1 0 2
comm 2 0 | 1 2
neighbours 0 0 from 1 to 1 2
window 1 comm 0
0: 0..1 init
1: 0..1 init
2: 0..1 init
0: 5..9 isend 2 64KiB req 1 tag 7
0: 9..12 irecv 1 8B req 2 any_source
1: 5..9 send 0 8B
0: 20..40 waitall 1 2
2: 6..39 recv 0 64KiB tag 7 any_tag
0: 50..60 allreduce 8B 8B
1: 50..60 allreduce 8B 8B
2: 50..60 allreduce 8B 8B
0: 61..62 ibarrier comm 1 req 3
2: 61..62 ibarrier comm 1 req 3
0: 63..70 wait 3
2: 63..70 wait 3
0: 100 end
1: 100 end
2: 100 end
)",
          R"(window 1
0: 0..5 win_create
1: 0..5 win_create
0: 6..7 win_lock 1 exclusive
0: 7..8 put 1 8B
0: 8..9 get 1 8B
0: 9..12 win_unlock 1
1: 6..8 function solve at a.c:7
0: 13..15 win_fence
1: 13..15 win_fence
1: 16..17 win_post 0
0: 16..17 win_start 1
0: 17..18 put 1 1KiB
0: 18..20 win_complete
1: 18..20 win_wait
0: 30..40 sendrecv 1 8B 1 8B at a.c:9 lost 2
1: 30..40 sendrecv 0 8B 0 8B flushed 1
0.1: 30..40 local MPI_Comm_rank
0: 41..45 join 1
0: 50 end
1: 50 end
)"};
}

// --- Samples ---

void read_samples_file(const std::string& bytes) {
  answer(
      [&] { read_sample_file(put_file(fuzz_directory() / "samples.csv", bytes), "seconds_min"); });
  answer([&] { read_samples(fuzz_directory() / "samples.csv"); });
}

Texts sample_seeds(const std::string&) {
  return {
      "# mpi: Open MPI 4.1.4\nlevel,pattern,bytes,messages,seconds_min,seconds_median,launch,"
      "processes,seconds_min_even,seconds_min_odd,interval\n"
      "node,pingpong,8,1,1e-6,1.1e-6,1,,1e-6,1.01e-6,0.01\n"
      "node,bcast,1024,1,5e-6,5.1e-6,2,4,5e-6,5e-6,0.02\nnode,eager,4096,1,,,1,,,,\n"};
}

void read_import(const std::string& bytes) {
  answer([&] {
    as_calibrated(read_foreign_samples(put_file(fuzz_directory() / "import.txt", bytes), 64).rows);
  });
}

Texts import_seeds(const std::string&) {
  return {
      "# OSU MPI Latency Test v5.9\n# Size          Latency (us)\n0   1.00\n8   1.02\n65536 10.5\n",
      "# OSU MPI Bandwidth Test v7.0\n# Datatype: MPI_CHAR.\n# Size      Bandwidth (MB/s)\n"
      "8         120.5\n1048576   9000.1\n",
      "# Benchmarking PingPong\n# #processes = 2\n       #bytes #repetitions      t[usec]   "
      "Mbytes/sec\n            8         1000         1.23         6.50\n\n# Benchmarking Barrier\n"
      "# #processes = 4\n#repetitions t_min[usec] t_max[usec] t_avg[usec]\n1000 1 2 1.5\n",
      "  1:       2 bytes   9652 times -->      7.98 Mbps in       1.91 usec\n",
      "        2   7.983711   0.00000191\n"};
}

// --- Archives: their files in a row ---

std::string packed(const fs::path& directory) {
  std::string bytes;
  for (const fs::path& file : files_below(directory))
    pack_file(bytes, fs::relative(file, directory).string(), file_bytes(file));
  return bytes;
}

/// Writes the files again, those whose names are of an archive.
void unpack(const std::string& bytes, const fs::path& directory) {
  fs::remove_all(directory);
  fs::create_directories(directory / "traces");
  std::string name, content;
  for (size_t at = 0; unpack_file(bytes, at, name, content);)
    if (name.starts_with("traces")) put_file(directory / name, content);
}

void read_archive(const std::string& bytes) {
  const fs::path directory = fuzz_directory() / "run";
  unpack(bytes, directory);
  answer([&] { replay_everywhere(directory.string()); });
}

Texts archive_seeds(const std::string&) {
  Texts texts;
  for (const uint64_t steps : {1, 3}) {
    SmallProgram program;
    program.steps = steps;
    const fs::path directory = fuzz_directory() / "seed";
    fs::remove_all(directory);
    write_archive(small_program(program), directory);
    texts.push_back(packed(directory));
  }
  return texts;
}

}  // namespace

const std::vector<FuzzTarget>& fuzz_targets() {
  static const Texts numbers = {
      "nan",   "inf",    "-inf",       "-1",         "0",
      "1e308", "1e-310", "2147483647", "4294967296", "9223372036854775808",
      "1e9"};
  const auto with = [](Texts words) {
    words.insert(words.end(), numbers.begin(), numbers.end());
    return words;
  };
  static const std::vector<FuzzTarget> targets = {
      {"platform", read_platform, platform_seeds,
       with({"[", "]", "{", "}", "\"", "'''", "=", ".", "\n", "level", "from", "latency", "\\u001b",
             "uncertainty", "segment", "algorithm"}),
       false},
      {"scenario", read_scenario, scenario_seeds,
       with({":", ",", "=", "*", "/", "latency", "ppn", "dr", "contention", "rank", ".cpu",
             "region=", "placement=", "collectives=", "network."}),
       false},
      {"text", read_text_trace, text_seeds,
       with({"\n", ": ", "..", "send", "recv", "wait", "barrier", "req", "tag", "comm", "root",
             "win", "neighbours", "persistent", "parts", "end", "off", "flush", "join"}),
       false},
      {"samples", read_samples_file, sample_seeds,
       with({",", "\n", "#", "node", "pingpong", "bcast", "held bcast"}), false},
      {"import", read_import, import_seeds,
       with({"#", "\n", "OSU", "Size", "Latency (us)", "#bytes", "t_avg[usec]", "  "}), false},
      {"archive",
       read_archive,
       archive_seeds,
       {std::string(8, '\0'), std::string(8, '\xFF'), std::string("\x01", 1), "\x80", "\x7F"},
       true},
      {"killed",
       read_killed_run,
       killed_run_seeds,
       {std::string(8, '\0'), std::string(8, '\xFF'), std::string("\x01", 1), "\x80", "k"},
       true}};
  return targets;
}

const FuzzTarget& fuzz_target(const std::string& name) {
  for (const FuzzTarget& target : fuzz_targets())
    if (name == target.name) return target;
  throw std::runtime_error("there is no target '" + name + "'");
}
