#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "replay/analyse/model_error.h"
#include "replay/judge/implausible_cost.h"
#include "replay/judge/roles.h"

namespace rubato {

/// What follows about a perfect interconnect.
enum class ConclusionKind : uint8_t {
  kNone,         ///< a scenario is absent, or nothing was recorded
  kUnexplained,  ///< Roles::own_machine misses the recorded time
  kClocks,       ///< the clocks were not synchronised
  kLacksCores,   ///< ranks waited for cores, or it seems so (ImplausibleCost)
  kNoGain,       ///< less than 0.5 %
  kGain
};

/// What follows from a run about its network, from `measured` and `perfect`. If the prediction for
/// the archive's own machine is off by more than 10 %, ranks shared cores (lost_cores.h), or the
/// clocks were not synchronised, nothing follows about a perfect interconnect. If ranks were
/// descheduled for part of the time, `undisturbed` is compared.
struct Conclusion {
  /// Time that the models do not explain.
  struct Part {
    enum class Kind : uint8_t {
      kLostCores,
      kFlushing,
      kKeptCalls,
      kClockErrors,  ///< at most
      kSharedCores,  ///< unknown seconds
      kTracing,
      kTracingAndLostCores
    };
    Kind kind;
    double seconds = 0;  ///< of the mean rank
  };

  ConclusionKind kind = ConclusionKind::kNone;
  const ScenarioResult* own_machine = nullptr;  ///< as in Roles, if `measured` is there
  double recorded = 0;  ///< seconds elapsed, of `measured` or, if ranks lost cores, `undisturbed`
  bool without_losses = false;  ///< the latter
  /// With `own_machine`: what its model misses most, if that is 2 % of `recorded`.
  std::optional<ModelError> missed;
  double window = 0;  ///< seconds of the mean rank
  /// kUnexplained, kLacksCores: possible causes; kGain, kNoGain: what only `measured` contains and
  /// is therefore part of the savings on other machines.
  std::vector<Part> parts;
  std::optional<ImplausibleCost> implausible;  ///< kLacksCores, if nothing else shows it
  /// kGain, kNoGain: seconds elapsed, and on a perfect interconnect, both without `not_recorded`.
  double elapsed = 0;
  double on_perfect = 0;
  double not_recorded = 0;
  /// `elapsed` is that of `undisturbed`, because ranks were descheduled for this share; 0: it is
  /// that of `measured`.
  double lost_share = 0;
};

Conclusion conclude(const Roles& roles);

/// True if nothing follows about a perfect interconnect.
bool is_unexplained(const Roles& roles);

}  // namespace rubato
