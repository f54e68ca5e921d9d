#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "models/collective/collective_algorithms.h"

namespace rubato {

/// The algorithm that applies from this number of members and bytes of payload on.
struct AlgorithmRule {
  int processes = 2;
  double bytes = 0;
  AlgorithmChoice choice;
};

/// Creating or freeing a communicator costs as much as an allgather of this many bytes.
inline constexpr double kHandleBytes = 8;

/// The library whose tables apply if a platform names no algorithm.
enum class CollectivePreset : uint8_t { kMpich, kOpenMpi };
inline constexpr std::array<const char*, 2> kCollectivePresetNames = {"mpich", "openmpi"};

/// The default algorithm of a library (collective_presets.cc), for every operation and p > 1.
AlgorithmChoice preset_choice(CollectivePreset preset, CollectiveOp op, int p, double bytes);

/// Seconds fitted over the number of members p and the payload d: the coefficients for one range of
/// sizes. The logarithm has base 2.
struct CollectiveFormula {
  double from = 0;      ///< bytes
  double constant = 0;  ///< seconds
  double log_p = 0;     ///< seconds
  double p = 0;         ///< seconds
  double p2 = 0;        ///< seconds, times p squared
  double d = 0;         ///< seconds per byte, as those below
  double d_log_p = 0;
  double d_p = 0;
  double d_p2 = 0;
  double uncertainty = 0;  ///< relative rms of its residuals; 0 = not known. Never computed with
  /// Valid for this number of members only; 0: for any.
  int processes = 0;

  /// Never negative.
  double operator()(int members, double bytes) const;
};

/// One operation on a platform.
struct OperationModel {
  std::vector<CollectiveFormula> formula;  ///< by `processes`, then by `from`, ascending
  /// The most processes that the formula was fitted to. Beyond them time grows like the
  /// algorithm's, since the formula is not valid there. 0: unknown; it is used for all.
  int formula_processes = 0;
  /// The last rule that applies chooses the algorithm; without one, the preset.
  std::vector<AlgorithmRule> rules;
  /// Bytes from which on root and children synchronise with each other.
  std::optional<double> sync_limit;
  bool perfect = false;  ///< costs only its synchronisation, whatever the pricing of others
};

/// How collective operations are priced.
enum class CollectivePricing : uint8_t {
  kAnalytic,   ///< by the formula if there is one, else by the algorithm
  kAlgorithm,  ///< by the algorithm
  kPerfect,    ///< they cost only their synchronisation
};
inline constexpr std::array<const char*, 3> kCollectivePricingNames = {"analytic", "algorithm",
                                                                       "perfect"};

/// The collective part of a platform.
class CollectiveModel {
 public:
  CollectivePricing pricing = CollectivePricing::kAnalytic;
  CollectivePreset preset = CollectivePreset::kMpich;
  std::array<OperationModel, kCollectiveOps> operations;

  /// `op`: one of the first kCollectiveOps.
  OperationModel& of(CollectiveOp op) { return operations[static_cast<size_t>(op)]; }
  const OperationModel& of(CollectiveOp op) const { return operations[static_cast<size_t>(op)]; }

  /// Synchronisation for a payload per member: as the semantics demand, or all-to-all from the
  /// operation's sync_limit on.
  Synchronisation synchronisation(CollectiveOp op, double bytes) const;

  /// The algorithm for p > 1 members; handles are created by an allgather.
  AlgorithmChoice choose(CollectiveOp op, int p, double bytes) const;

  /// How an operation is priced, for reports: the name of the algorithm, "formula" or "perfect".
  std::string describe(CollectiveOp op, int p, double bytes) const;

  /// True if the platform does not describe an operation: it is priced by the preset's algorithm.
  bool is_guessed(CollectiveOp op, double bytes) const;

  /// True if an operation is priced by a formula.
  bool has_formula(CollectiveOp op, double bytes) const;

  /// Ratio of the formula's time to the algorithm's; 1 without a formula.
  double stretch(CollectiveOp op, int p, double bytes, const RoundCost& cost) const;

  /// See algorithm_seconds(). 0 for one member.
  double seconds(CollectiveOp op, int p, double bytes, const RoundCost& cost) const;

  /// See departure_seconds(). With a formula, at most its value.
  double departure(CollectiveOp op, int p, double bytes, bool is_root, const RoundCost& cost) const;

 private:
  bool is_perfect(CollectiveOp op) const {
    return pricing == CollectivePricing::kPerfect || of(op).perfect;
  }
  bool is_by_formula(CollectiveOp op) const;
  /// Of an operation with a formula. Interpolated over log2 p between the nearest numbers of
  /// members that have pieces; that of the nearest one outside of them.
  double formula_value(CollectiveOp op, int p, double bytes) const;
  double formula_seconds(CollectiveOp op, int p, double bytes, const RoundCost& cost) const;
  double seconds_of_algorithm(CollectiveOp op, int p, double bytes, const RoundCost& cost) const;
};

}  // namespace rubato
