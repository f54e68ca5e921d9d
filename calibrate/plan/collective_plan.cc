#include "calibrate/plan/collective_plan.h"

#include <algorithm>
#include <map>

namespace rubato {

std::vector<int> process_counts(int ranks) {
  std::vector<int> counts;
  for (int p = 2; p < ranks; p *= 2) {
    counts.push_back(p);
    if (p + p / 2 < ranks) counts.push_back(p + p / 2);
  }
  if (ranks >= 2) counts.push_back(ranks);
  return counts;
}

std::vector<size_t> collective_lengths(size_t max_bytes, bool quick) {
  constexpr size_t kMost = 1 << 20;
  std::vector<size_t> lengths;
  for (size_t bytes = 8; bytes <= std::min(max_bytes, kMost); bytes *= quick ? 8 : 4) {
    lengths.push_back(bytes);
  }
  return lengths;
}

std::vector<int> across_nodes(const std::vector<int>& node_of_rank) {
  std::vector<int> order(node_of_rank.size());
  std::vector<int> place(node_of_rank.size());  // of a rank on its node
  std::map<int, int> seen;
  for (size_t r = 0; r < order.size(); ++r) {
    order[r] = static_cast<int>(r);
    place[r] = seen[node_of_rank[r]]++;
  }
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return place[static_cast<size_t>(a)] < place[static_cast<size_t>(b)];
  });
  return order;
}

std::optional<size_t> find_held_from(const std::function<bool(size_t)>& held, size_t unit,
                                     size_t max_bytes) {
  std::optional<size_t> free;  // the largest power of two that is not held
  size_t first_held = 0;       // the next one
  for (size_t bytes = unit; bytes <= max_bytes; bytes *= 2) {
    if (!held(bytes)) {
      free = bytes;
    } else if (!first_held || first_held <= free.value_or(0)) {
      first_held = bytes;
    }
  }
  if (!first_held || first_held < free.value_or(0)) return std::nullopt;
  if (!free) return 0;
  size_t low = *free, high = first_held;
  while (high - low > unit) {
    const size_t middle = low + (high - low) / 2 / unit * unit;
    (held(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace rubato
