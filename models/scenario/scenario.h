#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "models/platform/platform.h"

namespace rubato {

/// The source of the durations of operations.
enum class Basis : uint8_t {
  kMeasured,     ///< from the archive: reproduces the recording
  kUndisturbed,  ///< from the archive, less the tracer's overhead
  kModel,        ///< from a platform
};

/// Some ranks, or the ranks of some nodes, compute `factor` times faster than the others.
struct ProcessorChange {
  bool nodes = false;
  int first = 0;
  int last = 0;
  double factor = 1;
};

/// Compute in a function of the program and its callees takes `factor` times as long, or equally
/// long on all ranks that run it, with the same sum.
struct FunctionChange {
  std::string name;
  double factor = 1;
  bool balance = false;
};

/// A scenario: a machine plus changes. Each `--on` defines one.
struct Scenario {
  std::string name;
  std::string base;                  ///< the text before the changes: "measured", a file
  std::vector<std::string> changes;  ///< as they were written
  Basis basis = Basis::kModel;
  /// For Basis::kUndisturbed: only each rank's own overhead is removed; waits for others stay as
  /// recorded.
  bool local = false;
  Platform platform;    ///< for Basis::kModel
  double cpu = 1;       ///< compute runs this many times faster
  double overhead = 1;  ///< Basis::kUndisturbed: the share of the tracing overhead that is removed
  std::vector<ProcessorChange> processors;  ///< besides `cpu`
  std::vector<FunctionChange> functions;
  PlacementRule placement;
  std::array<bool, kLevels> changed_levels{};     ///< whose latency or bandwidth was changed
  std::vector<CollectiveOp> changed_collectives;  ///< whose algorithm was changed by name
  /// dr=fit: searches the degradation ratio with which the run takes as long as measured.
  bool fits_degradation = false;
  /// The platform file, "" if there is none; reports look for its samples beside it.
  std::string platform_file;

  /// How many times faster a rank computes than by `cpu` alone.
  double processor_factor(int rank, int node) const;
};

/// Reads "BASE" or "BASE:change,change,...". BASE is `measured`, `undisturbed` (for which `local`
/// is a change: Scenario::local), `perfect`, `bandela`, `loggps` (then L, o, g, G and S of
/// models/platform/loggps.h are keys, too), a platform file or the name of one in the directory
/// `presets`; a change is key=value, key*factor or key/factor with the keys latency, bandwidth
/// and overhead (each also as LEVEL.latency; without a level they mean all levels but self), cpu
/// (also as rank4-7.cpu or node1.cpu), ppn, placement, region and name; contention=MODEL or none,
/// contention.KEY (models/network/network_model.h) and the short names of such keys (dr, the
/// degradation ratio, which may be `fit`); network=FILE, or the name of one in the directory
/// `networks` beside `presets`. OPERATION=ALGORITHM, as in allreduce=ring, sets the algorithm of a
/// collective operation, and collectives= a library's choice of them (mpich, openmpi) or a way of
/// pricing them (algorithm, analytic, perfect).
///
/// placement= takes block:RANKS_PER_NODE (what ppn= is), roundrobin:NODES or file:FILE
/// (read_placement()); region= takes FUNCTION*FACTOR or FUNCTION/FACTOR, of time, or
/// FUNCTION=mean.
///
/// latency*f adds (f - 1) times the latency of the smallest messages (overheads included) to every
/// one-way trip, three of them in a handshake; overheads stay. bandwidth*f divides what grows with
/// the size in transfer times and gaps, overhead*f multiplies processor times. Errors:
/// UsageError for the text itself, InputError for a bad platform file.
Scenario parse_scenario(const std::string& text, const std::string& presets = "");

/// True for `measured` without changes, which is no prediction.
bool is_recording(const Scenario& scenario);

/// "BASE:change,change": what parse_scenario() reads. A change name=TEXT is left out.
std::string scenario_text(const std::string& base, const std::vector<std::string>& changes);
/// `scenario` with one more change behind its others, as parse_scenario() takes it: "latency*2".
/// Its name stays. Errors: UsageError.
Scenario changed(const Scenario& scenario, const std::string& change);
/// Refuses a factor on a quantity that the machine does not have, as parse_scenario() does. Errors:
/// UsageError.
void refuse_idle_change(const Scenario& scenario, const std::string& change);
/// True for a change that is not refused so.
bool has_effect(const Scenario& scenario, const std::string& change);
/// The text of a change by a factor, to the last bit: "latency*2.5". `operation`: '*' or '/'.
std::string change_by(const std::string& key, char operation, double factor);

/// The perfect interconnect: transfers take no time and no overhead, there are no handshakes, and
/// collectives cost only their synchronisation (MPInside paper, section 4.2).
Platform perfect_platform();

/// Bandela's machine: latency + n / bandwidth for every message, no overheads, no gap, all eager
/// (MPInside paper, section 2.2). Seconds, bytes per second.
Platform bandela_platform(double latency, double bandwidth);

}  // namespace rubato
