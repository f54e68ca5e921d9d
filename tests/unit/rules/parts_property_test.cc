// Vector collectives of random parts, from none to all bytes in one: no member leaves before the
// bytes that must cross its port can have crossed it, whatever the operation, its algorithm, its
// form and the network.

#include <numeric>
#include <random>

#include "tests/unit/toy.h"

using namespace rubato;

namespace {

/// One operation: bytes[from][to] are what `to` must get because of `from`.
struct Vector {
  CollectiveOp op;
  int root = 0;
  std::vector<std::vector<long>> bytes;
  int size() const { return static_cast<int>(bytes.size()); }
  long sent(int member) const {
    return std::accumulate(bytes[member].begin(), bytes[member].end(), 0L);
  }
  long received(int member) const {
    long sum = 0;
    for (const auto& of : bytes) sum += of[member];
    return sum;
  }
};

/// A part: nothing, one that all have, any, or all bytes if it is the one.
long part_of(std::mt19937& random, int kind, bool is_the_one) {
  switch (kind) {
    case 0:
      return is_the_one ? 100000 : 0;
    case 1:
      return 3000;
    default:
      return random() % 2 == 0 ? 0 : static_cast<long>(random() % 10000);
  }
}

Vector any_vector(std::mt19937& random, CollectiveOp op, int p) {
  Vector vector{op, static_cast<int>(random() % p), {}};
  vector.bytes.assign(p, std::vector<long>(p));
  const auto one = static_cast<int>(random() % p), other = static_cast<int>(random() % p);
  const auto kind = static_cast<int>(random() % 3);
  for (int i = 0; i < p; ++i) {
    const long part = part_of(random, kind, i == one);
    for (int k = 0; k < p; ++k) {
      if (op == CollectiveOp::kAllgatherv) vector.bytes[i][k] = part;
      if (op == CollectiveOp::kReduceScatter) vector.bytes[k][i] = part;
      if (op == CollectiveOp::kAlltoallv || op == CollectiveOp::kAlltoallw)
        vector.bytes[i][k] = part_of(random, kind, i == one && k == other);
    }
    if (op == CollectiveOp::kGatherv) vector.bytes[i][vector.root] = part;
    if (op == CollectiveOp::kScatterv) vector.bytes[vector.root][i] = part;
  }
  return vector;
}

/// Its trace, in which all enter at 0.
std::string trace_of(const Vector& vector, bool is_started) {
  std::string text = "nodes";
  for (int i = 0; i < vector.size(); ++i) text += " " + std::to_string(i);
  for (int i = 0; i < vector.size(); ++i) {
    const std::string rank = "\n" + std::to_string(i) + ": ";
    text += rank + (is_started ? "0..0 i" : "0..9 ") + name_of(vector.op);
    if (is_rooted(vector.op)) text += " root " + std::to_string(vector.root);
    text += " " + std::to_string(vector.sent(i)) + "B " + std::to_string(vector.received(i)) + "B";
    const bool to_each =
        vector.op == CollectiveOp::kAlltoallv || vector.op == CollectiveOp::kAlltoallw;
    if (to_each || (vector.op == CollectiveOp::kScatterv && i == vector.root)) {
      text += " parts";
      for (const long part : vector.bytes[i]) text += " " + std::to_string(part) + "B";
    }
    if (is_started) text += " req 1" + rank + "0..9 wait 1";
    text += rank + "9 end";
  }
  return text;
}

/// 100 ns of latency; ports, or links that messages share, of 1 B/ns. A message is eager, or has a
/// handshake from 64 B on.
Scenario machine(const std::string& algorithms, bool links, bool shakes_hands) {
  Scenario scenario;
  scenario.name = "machine";
  scenario.platform = parse_platform(
      R"(
    format = 1
    [level.network]
    transfer = [ { from = "0B", latency = "100ns", bandwidth = "1GB/s" } ]
    protocol = [ { from = "0B", kind = "eager" })" +
          std::string(shakes_hands ? R"(, { from = "64B", kind = "async" } ])" : " ]") +
          algorithms +
          (links ? "\n[network]\ntopology = \"crossbar\"\nlink_bandwidth = \"1GB/s\"\n" : ""),
      "machine");
  return scenario;
}

std::string choose(const std::string& op, const std::string& algorithm) {
  return "\n[collectives." + op + "]\nalgorithm = \"" + algorithm + "\"\n";
}

void check_ports(const Vector& vector, const std::string& algorithms, bool is_started,
                 bool shakes_hands) {
  const int p = vector.size();
  const std::string text = trace_of(vector, is_started);
  for (const bool links : {false, true}) {
    INFO(algorithms << (links ? ", links" : "") << "\n" << text);
    const Ends end = ends(text, machine(algorithms, links, shakes_hands));
    for (int i = 0; i < p; ++i) {
      const long in = vector.received(i) - vector.bytes[i][i];
      const long out = vector.sent(i) - vector.bytes[i][i];
      // A reduction sums what leaves and what arrives on the way: once each block, in any case.
      const long least_in = vector.op == CollectiveOp::kReduceScatter ? vector.bytes[i][i] : in;
      const long least_out = vector.op == CollectiveOp::kAllgatherv ? vector.bytes[i][i] : out;
      INFO("member " << i);
      if (p > 1 && least_in > 0) CHECK(end[i] >= 100 + least_in - 0.001);
      if (!links) CHECK(end[i] >= static_cast<double>(least_out) - 0.001);
    }
  }
}

}  // namespace

TEST_CASE("no member of a vector collective leaves before its bytes have crossed its port") {
  std::mt19937 random(54);
  for (const CollectiveOp op :
       {CollectiveOp::kGatherv, CollectiveOp::kScatterv, CollectiveOp::kAllgatherv,
        CollectiveOp::kAlltoallv, CollectiveOp::kAlltoallw, CollectiveOp::kReduceScatter}) {
    for (const Algorithm algorithm : algorithms_of(op)) {
      for (int seed = 0; seed < 40; ++seed) {
        // 24 members have too many messages in some algorithms: the price of a block.
        const int p = seed % 10 == 9 ? 24 : 2 + static_cast<int>(random() % 8);
        const std::string tree = random() % 2 == 0 ? "linear" : "binomial";
        std::string algorithms = choose(name_of(op), name_of(algorithm));
        for (const char* part : {"gatherv", "scatterv"}) {
          if (name_of(op) != part) algorithms += choose(part, tree);
        }
        check_ports(any_vector(random, op, p), algorithms, random() % 2 == 0, random() % 2 == 0);
      }
    }
  }
}
