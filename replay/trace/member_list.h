#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/base/fixed_list.h"

namespace rubato {

/// World ranks of the members of a communicator, by local rank. Copies share the memory: an archive
/// may define hundreds of thousands of communicators over the same ranks.
class MemberList {
 public:
  MemberList() = default;
  explicit MemberList(std::vector<int32_t> world_ranks);
  /// From the lists of another MemberList.
  MemberList(FixedList<int32_t> ranks, FixedList<int32_t> by_world_rank)
      : ranks_(std::move(ranks)), by_world_rank_(std::move(by_world_rank)) {}

  size_t size() const { return ranks_.size(); }
  bool empty() const { return ranks_.empty(); }
  int32_t operator[](size_t local) const { return ranks_[local]; }
  auto begin() const { return ranks_.begin(); }
  auto end() const { return ranks_.end(); }
  std::vector<int32_t> copy() const { return ranks_.copy(); }

  const FixedList<int32_t>& ranks() const { return ranks_; }
  /// Local ranks in the order of their world ranks; empty where the members are in that order.
  const FixedList<int32_t>& by_world_rank() const { return by_world_rank_; }

  /// Local rank of a world rank; -1 when it is no member.
  int local_rank(int world_rank) const;

 private:
  FixedList<int32_t> ranks_;
  FixedList<int32_t> by_world_rank_;
};

/// Lets equal lists share memory.
class MemberLists {
 public:
  MemberList share(std::vector<int32_t> world_ranks);

 private:
  std::unordered_map<uint64_t, std::vector<MemberList>> known_;  ///< by hash
};

}  // namespace rubato
