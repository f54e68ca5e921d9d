#include "calibrate/clock/core_states.h"

#include <cmath>
#include <cstdlib>
#include <fstream>

namespace rubato {
namespace {

std::string first_line(const std::string& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

std::string setting(const std::string& system, int core, const char* name) {
  return first_line(system + "/cpu" + std::to_string(core) + "/cpufreq/" + name);
}

std::string megahertz(double value) {
  return value > 0 ? std::to_string(std::lround(value)) + " MHz" : "";
}

/// "cpu MHz : 2400.123" of each "processor : N".
std::vector<std::string> stated_frequencies(const std::string& cpuinfo, size_t cores) {
  std::vector<std::string> texts(cores);
  std::ifstream file(cpuinfo);
  size_t core = cores;
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    const std::string value = line.substr(colon + 2);
    if (line.starts_with("processor")) core = std::strtoul(value.c_str(), nullptr, 10);
    if (line.starts_with("cpu MHz") && core < cores)
      texts[core] = megahertz(std::strtod(value.c_str(), nullptr));
  }
  return texts;
}

}  // namespace

std::string text_by_core(const std::vector<std::string>& texts) {
  std::string all;
  for (size_t first = 0, last = 0; first < texts.size(); first = last + 1) {
    for (last = first; last + 1 < texts.size() && texts[last + 1] == texts[first];) ++last;
    if (texts[first].empty()) continue;
    if (first == 0 && last + 1 == texts.size()) return texts[first];
    all += (all.empty() ? "" : "; ") + std::to_string(first);
    if (last > first) all += "-" + std::to_string(last);
    all += ": " + texts[first];
  }
  return all;
}

std::string governors(const std::string& system, int cores) {
  std::vector<std::string> texts;
  for (int core = 0; core < cores; ++core)
    texts.push_back(setting(system, core, "scaling_governor"));
  return text_by_core(texts);
}

std::string frequencies(const std::string& system, const std::string& cpuinfo, int cores) {
  std::vector<std::string> texts = stated_frequencies(cpuinfo, static_cast<size_t>(cores));
  for (int core = 0; core < cores; ++core) {
    const std::string kilohertz = setting(system, core, "scaling_cur_freq");
    if (!kilohertz.empty())
      texts[static_cast<size_t>(core)] = megahertz(std::strtod(kilohertz.c_str(), nullptr) / 1e3);
  }
  return text_by_core(texts);
}

}  // namespace rubato
