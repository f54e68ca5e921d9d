#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace rubato {

/// World ranks of the members of a communicator, by local rank. Copies share them: an archive may
/// define hundreds of thousands of communicators over the same ranks.
class MemberList {
 public:
  MemberList() : MemberList(std::vector<int32_t>()) {}
  explicit MemberList(std::vector<int32_t> world_ranks);

  size_t size() const { return ranks_.size(); }
  bool empty() const { return ranks_.empty(); }
  int32_t operator[](size_t local) const { return ranks_[local]; }
  auto begin() const { return ranks_.begin(); }
  auto end() const { return ranks_.end(); }
  const std::vector<int32_t>& list() const { return lists_->ranks; }
  operator const std::vector<int32_t>&() const { return list(); }  // NOLINT: it is one

  /// Local rank of a world rank; -1 when it is no member.
  int local_rank(int world_rank) const;

 private:
  struct Lists {
    std::vector<int32_t> ranks;
    /// Local ranks in the order of their world ranks; empty where the members are in that order.
    std::vector<int32_t> by_world_rank;
  };
  std::shared_ptr<const Lists> lists_;
  std::span<const int32_t> ranks_;  ///< of these
};

/// Gives equal lists the same memory.
class MemberLists {
 public:
  MemberList share(std::vector<int32_t> world_ranks);

 private:
  std::unordered_map<uint64_t, std::vector<MemberList>> known_;  ///< by hash
};

}  // namespace rubato
