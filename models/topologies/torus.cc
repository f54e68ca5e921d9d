// Tori of up to six dimensions: a cable from each node to the next and the one before in each.
//
//   dimension order   one dimension after the other, the first one first, the shorter way around
//                     (of two equal ones upwards)
//   spread            all shortest paths get an equal part
//   valiant           first to a node drawn by the pair, then to the destination, in dimension
//   order
//                     (Valiant: A scheme for fast parallel communication, 1982)
//
//   0 ── 1 ── 2 ── 3 ──╮     dimensions = [4, 2]: node = x + 4 y
//   4 ── 5 ── 6 ── 7 ──╯     0 to 6: 0 1 2 6

#include <algorithm>
#include <cmath>

#include "models/base/error.h"
#include "models/network/topology.h"

namespace rubato {
namespace {

constexpr size_t kMostDimensions = 6;

class Torus : public Topology {
 public:
  enum class Routing { kDimensionOrder, kSpread, kValiant };

  Torus(std::vector<int> sizes, double bandwidth, Routing routing)
      : Topology(product(sizes)), sizes_(std::move(sizes)), routing_(routing) {
    for (size_t d = 0; d < sizes_.size(); ++d) add_kind("dimension " + std::to_string(d + 1));
    for (int node = 0; node < nodes(); ++node) {
      for (size_t d = 0; d < sizes_.size(); ++d) {
        add_link(bandwidth, static_cast<int>(d));  // up
        add_link(bandwidth, static_cast<int>(d));  // down
      }
    }
  }

  void route(int from, int to, std::vector<FairShare::Use>& route) const override {
    route.clear();
    switch (routing_) {
      case Routing::kDimensionOrder:
        return in_order(from, to, route);
      case Routing::kSpread:
        return spread(from, to, route);
      case Routing::kValiant: {
        const int middle = draw(from, to, nodes());
        in_order(from, middle, route);
        in_order(middle, to, route);
        return merge(route);
      }
    }
  }
  std::string link_name(uint32_t link) const override {
    const size_t dimensions = sizes_.size();
    return "dimension " + std::to_string(link / 2 % dimensions + 1) +
           (link % 2 == 0 ? " up" : " down") + " from node " +
           std::to_string(link / 2 / dimensions);
  }
  /// Odd dimensions go to the right, even ones down; those from the third on in blocks.
  TopologyDrawing drawing() const override {
    constexpr double kGap = 0.7;  // between blocks, in distances of neighbours
    double width[2] = {1, 1};
    std::vector<double> steps;
    for (size_t d = 0; d < sizes_.size(); ++d) {
      steps.push_back(width[d % 2] + (d < 2 ? 0 : kGap));
      width[d % 2] += steps[d] * (sizes_[d] - 1);
    }
    TopologyDrawing drawing;
    for (int node = 0; node < nodes(); ++node) {
      double at[2] = {0.5, 0.5};
      for (int d = 0, rest = node; d < static_cast<int>(sizes_.size()); rest /= sizes_[d++])
        at[d % 2] += steps[d] * (rest % sizes_[d]);
      drawing.add(at[0] / width[0], at[1] / width[1], "node " + std::to_string(node), true);
    }
    for (int node = 0; node < nodes(); ++node) {
      for (int d = 0, stride = 1; d < static_cast<int>(sizes_.size()); stride *= sizes_[d++]) {
        const int size = sizes_[d], at = node / stride % size;
        if (size == 1 || (size == 2 && at == 1)) continue;
        const int other = next(node, stride, size, true);
        const auto dimension = static_cast<size_t>(d);
        TopologyDrawing::Cable cable{static_cast<uint32_t>(node),
                                     static_cast<uint32_t>(other),
                                     {link(node, dimension, true)},
                                     {link(other, dimension, false)}};
        if (size == 2) {  // two cables
          cable.there.push_back(link(node, dimension, false));
          cable.back.push_back(link(other, dimension, true));
        }
        cable.bends = d > 1 || at == size - 1;
        drawing.cables.push_back(std::move(cable));
      }
    }
    return drawing;
  }
  int diameter() const override {
    int most = 0;
    for (const int size : sizes_) most += size / 2;
    return routing_ == Routing::kValiant ? 2 * most : most;
  }

 private:
  static int product(const std::vector<int>& sizes) {
    int product = 1;
    for (const int size : sizes) product *= size;
    return product;
  }
  uint32_t link(int node, size_t dimension, bool up) const {
    return static_cast<uint32_t>((node * sizes_.size() + dimension) * 2 + (up ? 0 : 1));
  }
  /// Steps of the shorter way in a dimension; below 0: downwards.
  int steps(int from, int to, int stride, int size) const {
    const int ahead = ((to / stride - from / stride) % size + size) % size;
    return 2 * ahead <= size ? ahead : ahead - size;
  }
  int next(int node, int stride, int size, bool up) const {
    const int at = node / stride % size;
    return node + ((up ? (at + 1) % size : (at + size - 1) % size) - at) * stride;
  }

  void in_order(int from, int to, std::vector<FairShare::Use>& route) const {
    int stride = 1;
    for (size_t d = 0; d < sizes_.size(); ++d) {
      const int count = steps(from, to, stride, sizes_[d]);
      for (int i = 0; i < std::abs(count); ++i) {
        route.push_back({link(from, d, count > 0), 1});
        from = next(from, stride, sizes_[d], count > 0);
      }
      stride *= sizes_[d];
    }
  }

  /// Number of paths in a box through one of its links: paths up to it times paths behind it.
  /// Dimensions with two equal ways halve it.
  void spread(int from, int to, std::vector<FairShare::Use>& route) const {
    std::vector<int> counts, ties;
    int stride = 1;
    for (size_t d = 0; d < sizes_.size(); ++d) {
      counts.push_back(steps(from, to, stride, sizes_[d]));
      if (2 * counts.back() == sizes_[d]) ties.push_back(static_cast<int>(d));
      stride *= sizes_[d];
    }
    const size_t boxes = size_t{1} << ties.size();
    for (size_t box = 0; box < boxes; ++box) {
      for (size_t i = 0; i < ties.size(); ++i)
        counts[ties[i]] = std::abs(counts[ties[i]]) * (box >> i & 1 ? -1 : 1);
      add_box(from, counts, 1.0 / static_cast<double>(boxes), route);
    }
    merge(route);
  }
  void add_box(int from, const std::vector<int>& counts, double part,
               std::vector<FairShare::Use>& route) const {
    std::vector<int> done(counts.size(), 0), left(counts.size());
    const double all = ways(counts);
    for (;;) {
      int node = from, stride = 1;
      for (size_t d = 0; d < counts.size(); ++d) {
        const int at = node / stride % sizes_[d];
        const int moved = counts[d] < 0 ? -done[d] : done[d];
        node += ((at + moved + sizes_[d]) % sizes_[d] - at) * stride;
        stride *= sizes_[d];
      }
      for (size_t d = 0; d < counts.size(); ++d) {
        if (done[d] == std::abs(counts[d])) continue;
        for (size_t i = 0; i < counts.size(); ++i)
          left[i] = std::abs(counts[i]) - done[i] - (i == d ? 1 : 0);
        const double through = std::exp(ways(done) + ways(left) - all);
        route.push_back({link(node, d, counts[d] > 0), part * through});
      }
      size_t d = 0;
      while (d < counts.size() && done[d] == std::abs(counts[d])) done[d++] = 0;
      if (d == counts.size()) return;
      ++done[d];
    }
  }
  /// Logarithm of the number of paths with these steps by dimension: a multinomial coefficient.
  static double ways(const std::vector<int>& counts) {
    double sum = 0, parts = 0;
    for (const int count : counts) {
      sum += std::abs(count);
      parts += std::lgamma(std::abs(count) + 1.0);
    }
    return std::lgamma(sum + 1) - parts;
  }

  std::vector<int> sizes_;
  Routing routing_;
};

std::shared_ptr<const Topology> make_torus(const ContentionSetting& setting,
                                           const Placement& placement) {
  const std::vector<int> sizes = setting.counts("dimensions");
  if (sizes.empty() || sizes.size() > kMostDimensions)
    throw InputError("a torus needs 'dimensions', one to six numbers of nodes");
  double nodes = 1;
  for (const int size : sizes) nodes *= size;
  check_nodes("torus", placement, nodes);
  check_links("torus", 2 * nodes * static_cast<double>(sizes.size()));
  const std::string routing = setting.word("routing");
  return std::make_shared<Torus>(sizes, link_bandwidth(setting),
                                 routing == "spread"    ? Torus::Routing::kSpread
                                 : routing == "valiant" ? Torus::Routing::kValiant
                                                        : Torus::Routing::kDimensionOrder);
}

}  // namespace

extern const NetworkModel torus_model;
const NetworkModel torus_model = {
    "torus",
    "nodes on a grid that is closed in each dimension, whose links are shared fairly",
    with_link_keys({{"dimensions", NetworkKey::Kind::kCounts, "nodes in each dimension"},
                    {"routing",
                     NetworkKey::Kind::kWord,
                     "dimension-order, spread over all shortest paths, or valiant",
                     {},
                     "",
                     {"dimension-order", "spread", "valiant"}}}),
    make_links<make_torus>,
    make_hops<make_torus>,
    count_nodes<make_torus>,
};

}  // namespace rubato
