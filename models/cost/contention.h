#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "models/cost/placement.h"

namespace rubato {

/// What slows messages down that are under way at the same time.
enum class ContentionKind : uint8_t {
  kNone,         ///< nothing: they know nothing of each other
  kDegradation,  ///< the number of live requests on a node (MPInside paper, section 4.3)
  kBuses,        ///< so many messages at once, the others wait (Dimemas)
};
/// What a platform file calls them.
inline constexpr std::array<const char*, 3> kContentionNames = {"none", "degradation", "buses"};

/// The [contention] of a platform file.
struct ContentionModel {
  ContentionKind kind = ContentionKind::kNone;
  std::array<bool, kLevels> levels = {false, false, false, true};  ///< whose messages take part
  double degradation_ratio = 1;                                    ///< DR
  // Buses: messages at once, none: as many as like.
  std::optional<int> out;      ///< out of a node
  std::optional<int> in;       ///< into a node
  std::optional<int> network;  ///< in all

  bool operator==(const ContentionModel&) const = default;
};

}  // namespace rubato
