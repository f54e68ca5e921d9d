#include "tests/fuzz/target_parts.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "models/scenario/scenario.h"
#include "replay/study/run_replay.h"
#include "tools/report/report_json.h"
#include "tools/report/report_text.h"

namespace fs = std::filesystem;
using namespace rubato;

namespace {

template <typename Trace>
void replay_on_all(Trace& trace) {
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

bool is_plain(const std::string& name) {
  return name.find("..") == std::string::npos &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '.' || c == '/'; });
}

}  // namespace

const fs::path& fuzz_directory() {
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

std::string file_bytes(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

fs::path put_file(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  return path;
}

std::vector<fs::path> files_below(const fs::path& directory) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

void pack_file(std::string& packed, const std::string& name, const std::string& content) {
  const uint64_t size = content.size();
  packed += name + '\0';
  packed.append(reinterpret_cast<const char*>(&size), sizeof size);
  packed += content;
}

bool unpack_file(const std::string& packed, size_t& at, std::string& name, std::string& content) {
  if (at >= packed.size()) return false;
  const size_t end = packed.find('\0', at);
  uint64_t size = 0;
  if (end == std::string::npos || packed.size() - end - 1 < sizeof size) return false;
  name = packed.substr(at, end - at);
  if (!is_plain(name)) name.clear();
  packed.copy(reinterpret_cast<char*>(&size), sizeof size, end + 1);
  at = end + 1 + sizeof size;
  size = std::min<uint64_t>(size, packed.size() - at);
  content = packed.substr(at, size);
  at += size;
  return true;
}

void replay_everywhere(const std::string& archive) {
  replay_on_all(archive);
}

void replay_everywhere(EventSource& source) {
  replay_on_all(source);
}
