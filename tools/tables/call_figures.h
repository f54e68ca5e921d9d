#pragma once

#include <cstdint>
#include <span>
#include <variant>

#include "replay/analyse/scenario_profile.h"
#include "tools/format/table.h"

namespace rubato {

/// A number of the calls of one name. Each is listed once, for the text, CSV and JSON of `rubato
/// profile`; share/doc/profile.md explains it under its key (tests/report/profile.py).
struct CallFigure {
  using Value = std::variant<uint64_t, double>;
  enum Shown : uint8_t { kNo, kIfAny, kAlways };

  const char* key;      ///< in JSON, and the kind of rows in CSV
  const char* heading;  ///< of its column in text
  As as;                ///< kShare: seconds, in text as a share of the call's time
  Shown text;           ///< kIfAny: if some call has it; a dash for the others
  Shown csv;            ///< by rank. kIfAny: where it is not 0
  Shown rank;           ///< JSON, in a call of a rank; likewise
  Shown sum;            ///< JSON, in a call of all ranks; likewise
  Value (*value)(const CallSum& sum);
  bool of_one = false;    ///< of calls of one name: a dash where text has several in a row
  bool of_waits = false;  ///< defined where waits are known
  bool by_kind = false;   ///< in JSON (and CSV, apart from this list) by kind of wait
};

/// In the order of columns and keys.
std::span<const CallFigure> call_figures();

/// As a floating-point number.
double number_of(const CallFigure::Value& value);

}  // namespace rubato
