#include "models/network/network_model.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <sstream>

#include "models/base/error.h"
#include "models/base/units.h"

namespace rubato {

std::vector<const NetworkModel*>
built_in_network_models();  // generated: models/network/CMakeLists.txt

namespace {

std::vector<const NetworkModel*>& known() {
  static std::vector<const NetworkModel*> models = built_in_network_models();
  return models;
}

double plain_number(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  return result.ec == std::errc() && result.ptr == end ? value : -1;
}

}  // namespace

const NetworkKey* NetworkModel::key(const std::string& asked) const {
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const NetworkKey& each) {
    return each.name == asked || (*each.short_name && each.short_name == asked);
  });
  return found == keys.end() ? nullptr : &*found;
}

std::optional<double> ContentionSetting::number(const std::string& key) const {
  const auto given = numbers.find(key);
  if (given != numbers.end()) return given->second;
  const NetworkKey* known_key = model ? model->key(key) : nullptr;
  return known_key ? known_key->usual : std::nullopt;
}

std::vector<int> ContentionSetting::counts(const std::string& key) const {
  std::vector<int> counts;
  const auto given = texts.find(key);
  if (given == texts.end()) return counts;
  std::istringstream text(given->second);
  for (std::string count; std::getline(text, count, 'x');) counts.push_back(std::stoi(count));
  return counts;
}

std::vector<std::string> ContentionSetting::lines(const std::string& key) const {
  std::vector<std::string> lines;
  const auto given = texts.find(key);
  if (given == texts.end()) return lines;
  std::istringstream text(given->second);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

std::string ContentionSetting::word(const std::string& key) const {
  const auto given = texts.find(key);
  return given != texts.end() ? given->second : model->key(key)->words.front();
}

void ContentionSetting::set_model(const NetworkModel* other) {
  if (model == other) return;
  model = other;
  numbers.clear();
  texts.clear();
  loaded.reset();
}

void ContentionSetting::set(const NetworkKey& key, const std::string& value) {
  if (key.is_number()) {
    numbers[key.name] = parse_network_number(key, value);
  } else {
    texts[key.name] = parse_network_text(key, value);
    if (key.kind == NetworkKey::Kind::kFile) loaded = model->load(value);
  }
}

std::unique_ptr<Network> ContentionSetting::make_network(const Placement& placement,
                                                         double ticks_per_second) const {
  auto network = model && model->make ? model->make(*this, placement, ticks_per_second) : nullptr;
  if (network && flows_alone) return network->with_lone_flows();
  return network;
}

std::unique_ptr<Distances> ContentionSetting::make_distances(const Placement& placement) const {
  if (!model || !model->distances) return nullptr;
  return checked(model->distances(*this, placement), model->name);
}

const std::vector<const NetworkModel*>& network_models() {
  return known();
}

const NetworkModel* network_model(const std::string& name) {
  for (const NetworkModel* model : known())
    if (model->name == name) return model;
  return nullptr;
}

void add_network_model(const NetworkModel& model) {
  if (!network_model(model.name)) known().push_back(&model);
}

double parse_share(const std::string& text) {
  const bool is_percentage = text.ends_with('%');
  const double value = plain_number(is_percentage ? text.substr(0, text.size() - 1) : text);
  const double share = is_percentage ? value / 100 : value;
  if (text.empty() || !(share >= 0 && share < 1))
    throw InputError("must be a share of what a link carries, from 0% to below 100%, as in 30%");
  return share;
}

double parse_network_number(const NetworkKey& key, const std::string& text) {
  switch (key.kind) {
    case NetworkKey::Kind::kSeconds: {
      const double seconds = parse_seconds(text);
      if (seconds < 0) throw InputError("a time must not be negative");
      return seconds;
    }
    case NetworkKey::Kind::kBandwidth:
      return parse_bandwidth(text);
    case NetworkKey::Kind::kShare:
      return parse_share(text);
    case NetworkKey::Kind::kCount: {
      const double value = plain_number(text);
      if (value >= 1 && value <= std::numeric_limits<int>::max() && value == std::floor(value))
        return value;
      throw InputError("must be a whole number above 0");
    }
    default:
      break;
  }
  const double value = plain_number(text);
  if (value > 0 && !std::isinf(value)) return value;
  throw InputError("must be a number above 0");
}

std::string parse_network_text(const NetworkKey& key, const std::string& text) {
  if (key.kind >= NetworkKey::Kind::kLines) return text;
  if (key.kind == NetworkKey::Kind::kWord) {
    if (std::find(key.words.begin(), key.words.end(), text) != key.words.end()) return text;
    std::string all;
    for (const std::string& word : key.words) all += (all.empty() ? "\"" : ", \"") + word + "\"";
    throw InputError("must be one of " + all);
  }
  constexpr double kMost = 1 << 24;
  size_t begin = 0;
  do {
    const size_t end = std::min(text.find('x', begin), text.size());
    const double value = plain_number(text.substr(begin, end - begin));
    if (!(value >= 1 && value <= kMost && value == std::floor(value)))
      throw InputError("must be whole numbers above 0, as in [4, 2], or 4x2 in a scenario");
    begin = end + 1;
  } while (begin <= text.size());
  return text;
}

std::string format_network_number(const NetworkKey& key, double value) {
  if (key.kind == NetworkKey::Kind::kSeconds) return format_seconds(value);
  if (key.kind == NetworkKey::Kind::kBandwidth) return format_bandwidth(value);
  std::array<char, 32> text{};  // up to the last digit
  return {text.data(), std::to_chars(text.begin(), text.end(), value).ptr};
}

}  // namespace rubato
