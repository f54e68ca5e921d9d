#pragma once

#include <memory>
#include <string>

namespace rubato {

/// Distances of ranks on different nodes, for instance by the hops of a topology. Pairs of one
/// distance cost the same. Pure: a pair always has the same distance.
class Distances {
 public:
  virtual ~Distances() = default;

  /// Distance of two ranks on different nodes: from 0 to below count().
  virtual int between(int from, int to) const = 0;
  /// From 1 to PairClass::kMostDistances.
  virtual int count() const = 0;
  /// Seconds of a one-way trip beyond [level.network]; a handshake has three trips. At least 0.
  virtual double latency(int distance) const = 0;
};

/// The same with checks: a violation of these rules is an InputError that names `model`, at once
/// for count and latencies, else in between(). nullptr for nullptr.
std::unique_ptr<Distances> checked(std::unique_ptr<Distances> told, const std::string& model);

}  // namespace rubato
