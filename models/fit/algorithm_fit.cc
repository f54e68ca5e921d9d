// The algorithm of a collective from its times. A library's choice depends on the payload, so with
// payloads sorted the sum over ranges of
//
//   (squared logarithmic errors of one algorithm at all payloads of the range) + price
//
// is minimised by dynamic programming. The cost of an algorithm on the fitted network has an error
// of some per cent anyway; the price of a range is the squared error of 5 % at one payload, for
// each number of processes.
#include "models/fit/algorithm_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "models/platform/interconnect.h"
#include "models/statistics/statistics.h"

namespace rubato {
namespace {

constexpr double kMostError = 0.10;
constexpr double kOfPrice = 0.05;

}  // namespace

std::optional<ExplainedCollective> explain_collective(CollectiveOp op,
                                                      const std::vector<CollectiveTimes>& times,
                                                      Level level, const Platform& platform) {
  const Interconnect net(platform);
  if (!net.has(level)) return std::nullopt;
  std::map<double, std::vector<const CollectiveTimes*>> by_payload;
  std::set<double> processes;
  for (const CollectiveTimes& one : times) {
    if (one.processes < 2) continue;
    by_payload[one.bytes].push_back(&one);
    processes.insert(one.processes);
  }
  if (processes.size() < 2 || *processes.rbegin() <= 3) return std::nullopt;

  const std::vector<Algorithm> algorithms = algorithms_of(op);
  const RoundCost cost = net.round_cost(level);
  const auto error = [&](const CollectiveTimes& one, Algorithm algorithm) {
    const int p = static_cast<int>(one.processes);
    const PartCost part = [&](CollectiveOp of, double bytes) {
      return platform.collectives.seconds(of, p, bytes, cost);
    };
    return algorithm_seconds(op, {algorithm, 0}, p, one.bytes, cost, part) / median(one.seconds) -
           1;
  };
  std::vector<double> payloads;
  std::vector<std::vector<double>> squares, worst;  // by payload and algorithm
  for (const auto& [bytes, of_payload] : by_payload) {
    payloads.push_back(bytes);
    squares.emplace_back();
    worst.emplace_back();
    for (const Algorithm algorithm : algorithms) {
      double sum = 0, most = 0;
      for (const CollectiveTimes* one : of_payload) {
        const double off = error(*one, algorithm);
        sum += std::pow(std::log1p(std::max(off, -0.999)), 2);
        most = std::max(most, std::abs(off));
      }
      squares.back().push_back(sum);
      worst.back().push_back(most);
    }
  }
  // Other algorithms pay this much more than the library's own.
  const double price = kOfPrice * kOfPrice * static_cast<double>(processes.size());
  const auto of_library = [&](double bytes) {
    return preset_choice(platform.collectives.preset, op, static_cast<int>(*processes.rbegin()),
                         bytes)
        .algorithm;
  };
  for (size_t i = 0; i < payloads.size(); ++i) {
    for (size_t a = 0; a < algorithms.size(); ++a) {
      if (algorithms[a] == of_library(payloads[i]))
        squares[i][a] = std::max(0.0, squares[i][a] - price);
    }
  }
  // The least sum over all payloads up to one, by the algorithm of that one; and its predecessor.
  std::vector<std::vector<double>> least = squares;
  std::vector<std::vector<size_t>> before(payloads.size(), std::vector<size_t>(algorithms.size()));
  for (size_t i = 1; i < payloads.size(); ++i) {
    const size_t best =
        std::min_element(least[i - 1].begin(), least[i - 1].end()) - least[i - 1].begin();
    for (size_t a = 0; a < algorithms.size(); ++a) {
      const bool changes = least[i - 1][best] + price < least[i - 1][a];
      before[i][a] = changes ? best : a;
      least[i][a] += changes ? least[i - 1][best] + price : least[i - 1][a];
    }
  }
  ExplainedCollective found;
  std::vector<size_t> chosen(payloads.size());
  size_t a = std::min_element(least.back().begin(), least.back().end()) - least.back().begin();
  for (size_t i = payloads.size(); i-- > 0; a = before[i][a]) {
    found.worst = std::max(found.worst, worst[i][a]);
    chosen[i] = a;
    const bool begins = i == 0 || before[i][a] != a;
    if (begins) found.rules.push_back({2, i == 0 ? 0 : payloads[i], {algorithms[a], 0}});
  }
  // Few processes do not distinguish all algorithms. If another one fits as well as the chosen one,
  // and that is not the library's own, both must take the same time with many processes.
  constexpr int kMany = 64;
  const auto with_many = [&](size_t algorithm, double bytes) {
    return algorithm_seconds(op, {algorithms[algorithm], 0}, kMany, bytes, cost,
                             [&](CollectiveOp of, double n) {
                               return platform.collectives.seconds(of, kMany, n, cost);
                             });
  };
  for (size_t i = 0; i < payloads.size(); ++i) {
    if (algorithms[chosen[i]] == of_library(payloads[i])) continue;
    for (size_t other = 0; other < algorithms.size(); ++other) {
      const bool fits_as_well = squares[i][other] <= squares[i][chosen[i]] + price;
      const double ratio = with_many(other, payloads[i]) / with_many(chosen[i], payloads[i]);
      if (fits_as_well && std::abs(ratio - 1) > kMostError) return std::nullopt;
    }
  }
  std::reverse(found.rules.begin(), found.rules.end());
  if (found.worst > kMostError) return std::nullopt;
  return found;
}

}  // namespace rubato
