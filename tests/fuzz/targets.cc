#include "tests/fuzz/targets.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "models/cost/platform_file.h"
#include "models/cost/scenario.h"
#include "models/error.h"
#include "replay/archive/text_source.h"
#include "replay/driver.h"
#include "tests/fixture/otf2_archive.h"
#include "tools/foreign_samples.h"
#include "tools/report_json.h"
#include "tools/report_text.h"
#include "tools/sample_file.h"
#include "tools/terminal_text.h"

namespace fs = std::filesystem;
using namespace rubato;

namespace {

using Texts = std::vector<std::string>;

/// A directory of this process, in memory where there is such a place.
const fs::path& work() {
  static const struct Made {
    fs::path path;
    Made() {
      std::error_code error;
      const fs::path place =
          fs::is_directory("/dev/shm", error) ? fs::path("/dev/shm") : fs::temp_directory_path();
      std::string name = place / "rubato-fuzz.XXXXXX";
      if (!mkdtemp(name.data())) throw std::runtime_error("cannot make " + name);
      path = name;
    }
    ~Made() {
      std::error_code error;
      fs::remove_all(path, error);
    }
  } made;
  return made.path;
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

fs::path write_file(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  return path;
}

/// Runs `body`, which may refuse its input in one line.
template <typename Body>
void answer(Body body) {
  try {
    body();
  } catch (const InputError& error) {
    if (one_line(error.what()).empty()) throw std::logic_error("a refusal without a word");
  } catch (const UsageError& error) {
    if (one_line(error.what()).empty()) throw std::logic_error("a refusal without a word");
  }
}

/// Replays on three machines, and writes it up.
template <typename Trace>
void replay(Trace&& trace) {
  static const std::vector<Scenario> scenarios = {
      parse_scenario("measured"), parse_scenario("undisturbed"), parse_scenario("perfect"),
      parse_scenario("bandela:latency=2us,bandwidth=1GB/s"),
      parse_scenario("loggps:L=2us,o=0.3us,g=0.5us,G=0.1ns,S=64KiB,dr=2")};
  ReplayOptions options;
  options.threads = 1;
  options.verify = options.wait_states = options.total_functions = true;
  const Results results = run_replay(trace, scenarios, options);
  for (const ScenarioResult& scenario : results.scenarios) {
    if (scenario.deadlock.empty() && !std::isfinite(scenario.elapsed))
      throw std::logic_error("Elapsed is not finite");
  }
  report_text(results, {.width = 100});
  report_json(results);
}

Texts files_of(const fs::path& directory) {
  Texts texts;
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (entry.path().extension() == ".toml") texts.push_back(read_file(entry.path()));
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

// --- Platform files ---

void read_platform(const std::string& bytes) {
  answer([&] {
    const Platform platform = parse_platform(bytes, "fuzz.toml");
    platform_warnings(bytes, "fuzz.toml");
    // What is written is read again.
    parse_platform(format_platform(platform), "again.toml");
  });
  answer([&] { load_network(write_file(work() / "network.toml", bytes)); });
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
    replay(*source);
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
  answer([&] { read_sample_file(write_file(work() / "samples.csv", bytes), "seconds_min"); });
  answer([&] { read_samples(work() / "samples.csv"); });
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
    as_calibrated(read_foreign_samples(write_file(work() / "import.txt", bytes), 64).rows);
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

// --- Archives: their files in a row, each behind its name, a 0, and its length in 8 bytes ---

std::string packed(const fs::path& directory) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::string bytes;
  for (const fs::path& file : files) {
    const std::string content = read_file(file);
    const uint64_t size = content.size();
    bytes += fs::relative(file, directory).string() + '\0';
    bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
    bytes += content;
  }
  return bytes;
}

/// Writes the files again, those whose names are of an archive.
void unpack(const std::string& bytes, const fs::path& directory) {
  fs::remove_all(directory);
  fs::create_directories(directory / "traces");
  for (size_t at = 0; at < bytes.size();) {
    const size_t end = bytes.find('\0', at);
    uint64_t size = 0;
    if (end == std::string::npos || bytes.size() - end - 1 < sizeof size) return;
    const std::string name = bytes.substr(at, end - at);
    bytes.copy(reinterpret_cast<char*>(&size), sizeof size, end + 1);
    at = end + 1 + sizeof size;
    size = std::min<uint64_t>(size, bytes.size() - at);
    const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '.' || c == '/';
    });
    if (plain && name.starts_with("traces") && name.find("..") == std::string::npos)
      write_file(directory / name, bytes.substr(at, size));
    at += size;
  }
}

void read_archive(const std::string& bytes) {
  const fs::path directory = work() / "run";
  unpack(bytes, directory);
  answer([&] { replay(directory.string()); });
}

Texts archive_seeds(const std::string&) {
  Texts texts;
  for (const uint64_t steps : {1, 3}) {
    SmallProgram program;
    program.steps = steps;
    const fs::path directory = work() / "seed";
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
       true}};
  return targets;
}

const FuzzTarget& fuzz_target(const std::string& name) {
  for (const FuzzTarget& target : fuzz_targets())
    if (name == target.name) return target;
  throw std::runtime_error("there is no target '" + name + "'");
}
