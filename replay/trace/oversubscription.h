#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rubato {

/// What the tracer says about the processors that a rank ran on (tracer/schema.h); nothing where it
/// does not.
struct RankProcessors {
  std::optional<uint64_t> affinity_cores;        ///< that the rank was allowed to run on
  std::optional<uint64_t> cores_on_node;         ///< of the rank's node
  std::optional<uint64_t> involuntary_switches;  ///< times its threads were taken off a core
};

/// Sentences about ranks that had to share a core, because then times between MPI calls hold those
/// of other ranks: more ranks on a node than cores that they may use, or ranks that lost their core
/// more than ten times a second. `node_of_rank` and `nodes` as in TraceDefinitions, `seconds` that
/// the recording took. Empty where there is nothing to say.
std::vector<std::string> oversubscription(const std::vector<RankProcessors>& ranks,
                                          const std::vector<int>& node_of_rank,
                                          const std::vector<std::string>& nodes, double seconds);

/// True where a node had more ranks than cores for them.
bool shares_cores(const std::vector<RankProcessors>& ranks, const std::vector<int>& node_of_rank,
                  const std::vector<std::string>& nodes);

}  // namespace rubato
