#pragma once

#include <memory>
#include <string>

namespace rubato {

/// Tells pairs of ranks on different nodes apart: by the hops of a topology, say. Pairs of one
/// distance cost the same. Pure: the same pair always has the same distance.
class Distances {
 public:
  virtual ~Distances() = default;

  /// Of messages between two ranks on different nodes: from 0 to below count().
  virtual int between(int from, int to) const = 0;
  /// From 1 to PairClass::kMostDistances.
  virtual int count() const = 0;
  /// Seconds by which a one-way trip takes longer than [level.network] says; a handshake has three.
  /// At least 0.
  virtual double latency(int distance) const = 0;
};

/// The same, but what breaks these rules is refused: an InputError that names `model`, at once for
/// count and latencies, else by between(). nullptr of nullptr.
std::unique_ptr<Distances> checked(std::unique_ptr<Distances> told, const std::string& model);

}  // namespace rubato
