#pragma once

// The functions of a timeline by call path, each with the ticks in which it was the innermost one:
//
//   main 5            node 1   parent 0     exclusive: the ticks of nodes with this function
//    ├─ assemble 1    node 2   parent 1     inclusive: the ticks below its nodes that are not
//    │   └─ burn 80   node 3   parent 2                themselves below one of its nodes
//    └─ burn 9        node 4   parent 1     burn: 89 and 89, assemble: 1 and 81
//
// A function that calls itself has one node, so recursion neither counts twice nor makes paths
// longer. Parents have smaller numbers than their children.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rubato {

class CallTree {
 public:
  static constexpr uint32_t kRoot = 0;  ///< outside of functions
  /// Limit of memory. Paths beyond it begin with their last function.
  static constexpr size_t kMostNodes = 1 << 16;

  struct Node {
    uint32_t parent = kRoot;
    uint32_t function = UINT32_MAX;  ///< index into EventSource::functions(); of the root: none
    uint64_t calls = 0;
    /// Functions whose enter or leave was recorded in `ticks`.
    uint64_t probes = 0;
    double ticks = 0;
    /// Squares of the half-widths of the 95 % intervals of `ticks`, and with all nodes below; 0 but
    /// for functions from samples.
    double own_error2 = 0, error2 = 0;
    // The first child, and the next child of the parent; kRoot: none.
    uint32_t first_child = kRoot, sibling = kRoot;
  };

  CallTree() : nodes_(1) {}
  /// REQUIRES: nodes() of another tree.
  explicit CallTree(std::vector<Node> nodes) : nodes_(std::move(nodes)) {}

  const std::vector<Node>& nodes() const { return nodes_; }
  Node& operator[](uint32_t node) { return nodes_[node]; }

  /// The node of `function` when `caller` calls it; makes it if there is none.
  uint32_t call(uint32_t caller, uint32_t function) {
    if (caller != kRoot && nodes_[caller].function == function) return caller;
    if (const uint32_t known = child(caller, function); known != kRoot) return known;
    if (nodes_.size() >= kMostNodes && caller != kRoot) return call(kRoot, function);
    const auto number = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back(
        {.parent = caller, .function = function, .sibling = nodes_[caller].first_child});
    nodes_[caller].first_child = number;
    return number;
  }
  /// By node: the sum of `values` (by node) of the node and all nodes below it.
  std::vector<double> inclusive(std::vector<double> values) const {
    for (size_t i = nodes_.size() - 1; i > 0; --i) values[nodes_[i].parent] += values[i];
    return values;
  }
  /// True if a caller of the node is in the same function. `alike`: the first function with the
  /// same name and place, by function.
  bool is_recursive(size_t node, const std::vector<uint32_t>& alike) const {
    const uint32_t function = alike[nodes_[node].function];
    for (size_t i = nodes_[node].parent; i != kRoot; i = nodes_[i].parent) {
      if (alike[nodes_[i].function] == function) return true;
    }
    return false;
  }
  /// Sets all sums to 0.
  void clear() {
    for (Node& node : nodes_) node.ticks = 0, node.calls = node.probes = 0;
  }

 private:
  uint32_t child(uint32_t caller, uint32_t function) const {
    uint32_t node = nodes_[caller].first_child;
    while (node != kRoot && nodes_[node].function != function) node = nodes_[node].sibling;
    return node;
  }

  std::vector<Node> nodes_;
};

}  // namespace rubato
