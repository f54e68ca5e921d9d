#include "models/topologies/simgrid_quantities.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>

#include "models/base/error.h"

namespace rubato::simgrid {
namespace {

constexpr size_t kMostHosts = size_t{1} << 20;

struct Unit {
  const char* name;
  double scale;
};
constexpr std::array kTimes = {Unit{"w", 604800}, Unit{"d", 86400}, Unit{"h", 3600},
                               Unit{"m", 60},     Unit{"s", 1},     Unit{"ms", 1e-3},
                               Unit{"us", 1e-6},  Unit{"ns", 1e-9}, Unit{"ps", 1e-12}};

}  // namespace

double seconds(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto number = std::from_chars(text.data(), end, value);
  if (number.ec == std::errc() && value >= 0 && value < 1e15) {
    const std::string unit(number.ptr, end);
    if (unit.empty()) return value;
    for (const Unit& known : kTimes) {
      if (unit == known.name) return value * known.scale;
    }
  }
  throw InputError("'" + text + "' should be a time, as in 10us");
}

double bandwidth(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto number = std::from_chars(text.data(), end, value);
  std::string unit(number.ptr, end);
  const auto bad = [&] {
    return InputError("'" + text + "' should be a bandwidth above 0, as in 10Gbps or 1.25GBps");
  };
  if (number.ec != std::errc() || !(value > 0) || value > 1e30) throw bad();
  if (unit.empty()) return value;
  if (unit.size() < 3 || unit.substr(unit.size() - 2) != "ps") throw bad();
  const char base = unit[unit.size() - 3];
  const std::string prefix = unit.substr(0, unit.size() - 3);
  if (base != 'B' && base != 'b') throw bad();
  if (base == 'b') value /= 8;
  if (prefix.empty()) return value;
  const std::string prefixes = "kMGTPE";
  const bool is_binary = prefix.size() == 2 && prefix[1] == 'i';
  if (!is_binary && prefix.size() != 1) throw bad();
  const size_t power = prefixes.find(is_binary && prefix[0] == 'K' ? 'k' : prefix[0]);
  if (power == std::string::npos || (is_binary && prefix[0] == 'k')) throw bad();
  for (size_t i = 0; i <= power; ++i) value *= is_binary ? 1024 : 1000;
  return value;
}

std::vector<int> counts(const std::string& text) {
  std::vector<int> counts;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    word.erase(std::remove(word.begin(), word.end(), ' '), word.end());
    int count = 0;
    const char* const end = word.data() + word.size();
    const auto number = std::from_chars(word.data(), end, count);
    if (number.ec != std::errc() || number.ptr != end || count < 1 || count > (1 << 20))
      throw InputError("'" + text + "' should be whole numbers above 0");
    counts.push_back(count);
  }
  return counts;
}

std::vector<std::string> radicals(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream ranges(text);
  for (std::string range; std::getline(ranges, range, ',');) {
    const size_t dash = range.find('-');
    std::array<int, 2> ends{};
    for (const size_t i : {0, 1}) {
      const std::string word =
          i == 0 || dash == std::string::npos ? range.substr(0, dash) : range.substr(dash + 1);
      const char* const end = word.data() + word.size();
      const auto number = std::from_chars(word.data(), end, ends[i]);
      if (number.ec != std::errc() || number.ptr != end || ends[i] < 0)
        throw InputError("'" + text + "' should be numbers of hosts, as in 0-15,20");
    }
    for (int64_t i = ends[0]; i <= ends[1]; ++i) {
      if (all.size() == kMostHosts) throw InputError("'" + text + "' is more than 1 M hosts");
      all.push_back(std::to_string(i));
    }
  }
  if (all.empty()) throw InputError("there are no hosts");
  return all;
}

}  // namespace rubato::simgrid
