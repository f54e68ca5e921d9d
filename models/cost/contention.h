#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "models/cost/placement.h"

namespace rubato {

/// How concurrent messages slow each other down.
enum class ContentionKind : uint8_t {
  kNone,         ///< not at all
  kDegradation,  ///< the number of live requests on a node (MPInside paper, section 4.3)
  kBuses,        ///< by a limited number of concurrent messages; others wait (Dimemas)
};
/// Names in platform files.
inline constexpr std::array<const char*, 3> kContentionNames = {"none", "degradation", "buses"};

/// The [contention] of a platform file.
struct ContentionModel {
  ContentionKind kind = ContentionKind::kNone;
  std::array<bool, kLevels> levels = {false, false, false, true};  ///< whose messages take part
  double degradation_ratio = 1;                                    ///< DR
  // Buses: number of concurrent messages; unset means unlimited.
  std::optional<int> out;      ///< out of a node
  std::optional<int> in;       ///< into a node
  std::optional<int> network;  ///< in all

  bool operator==(const ContentionModel&) const = default;
};

}  // namespace rubato
