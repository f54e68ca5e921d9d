#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <unordered_map>
#include <utility>

namespace rubato {

/// A cache of computed costs. Its size is limited: when the younger of its two halves is full, the
/// older one is dropped. So a reference stays valid until as many other costs as a half holds are
/// added, which is longer than the processing of one action.
template <typename Key, typename Cost, typename Hash = std::hash<Key>>
class CostTable {
 public:
  /// Entries in a half.
  static constexpr size_t kHalf = 1 << 13;

  /// The cost of `key`; true when it is new and has to be filled in.
  [[gnu::always_inline]] std::pair<Cost*, bool> find(const Key& key) {
    Recent& recent = recent_[Hash()(key) * 0x9E3779B97F4A7C15u >> (64 - kRecentBits)];
    if (recent.cost && recent.key == key) return {recent.cost, false};
    const auto found = find_in_halves(key);
    recent = {key, found.first};
    return found;
  }

 private:
  static constexpr int kRecentBits = 8;
  /// A cost of the younger half.
  struct Recent {
    Key key;
    Cost* cost = nullptr;
  };

  [[gnu::noinline]] std::pair<Cost*, bool> find_in_halves(const Key& key) {
    const auto found = young_.find(key);
    if (found != young_.end()) return {&found->second, false};
    auto known = old_.extract(key);
    if (young_.size() >= kHalf) {
      old_.swap(young_);
      young_.clear();
      recent_ = {};
    }
    // A node keeps its address when moved between maps.
    if (known) return {&young_.insert(std::move(known)).position->second, false};
    return {&young_.try_emplace(key).first->second, true};
  }

  std::unordered_map<Key, Cost, Hash> young_, old_;
  std::array<Recent, 1 << kRecentBits> recent_{};  ///< recently used ones, by hash
};

}  // namespace rubato
