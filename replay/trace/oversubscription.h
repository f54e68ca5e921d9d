#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rubato {

/// The processors of a rank, as recorded (tracer/archive/schema.h); empty where the archive does
/// not say.
struct RankProcessors {
  std::optional<uint64_t> affinity_cores;  ///< number of cores that the rank was allowed to run on
  std::optional<uint64_t> cores_on_node;   ///< of the rank's node
  std::optional<uint64_t> involuntary_switches;  ///< times its threads were taken off a core
  /// Nanoseconds that its threads without MPI calls ran, and that they waited for cores.
  std::optional<uint64_t> threads_ran, threads_waited;
};

/// The end of the sentence of oversubscription().
inline constexpr std::string_view kTimeWithoutCores =
    ": the recorded times include time without a core";

/// A sentence about ranks that shared a core, since their compute then contains time of other
/// ranks: a node with more ranks than usable cores, threads that waited for cores, or ranks with
/// more than ten involuntary context switches per second (a voluntary one, as in sched_yield(),
/// does not count). `node_of_rank` and `nodes` as in TraceDefinitions; `seconds` is the length of
/// the recording. "" if there is no reason to warn.
std::string oversubscription(const std::vector<RankProcessors>& ranks,
                             std::span<const int> node_of_rank,
                             const std::vector<std::string>& nodes, double seconds);

/// True where ranks lost an unknown time: a node had more ranks than cores for them, or threads
/// without MPI calls waited for cores for more than 2 % of both the recording and their own time
/// (how long a rank waited for them is not known).
bool shares_cores(const std::vector<RankProcessors>& ranks, std::span<const int> node_of_rank,
                  const std::vector<std::string>& nodes, double seconds);

}  // namespace rubato
