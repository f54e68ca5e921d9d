#pragma once

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "replay/observe/results.h"

namespace rubato {

using Json = nlohmann::ordered_json;

/// Helpers shared by all JSON reports.
namespace json_text {

/// null for infinities and NaN, which JSON cannot express.
inline Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

inline Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

/// "late sender" as a key: "late_sender".
inline std::string key_of(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == ' ' || c == '-'; }, '_');
  return name;
}

/// The key of a WaitKind: "late_sender", ...
inline std::string wait_key(int kind) {
  return key_of(kWaitNames[kind]);
}

/// `indent`: -1 for a single line. Names in an archive may hold bytes that are not UTF-8; they are
/// replaced rather than refused.
inline std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace json_text
}  // namespace rubato
