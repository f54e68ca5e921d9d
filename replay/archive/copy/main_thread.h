#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/store/call_file.h"

namespace rubato {

/// The times of the main thread of a rank, record by record: other locations of the rank follow it.
class MainThread {
 public:
  struct Knot {
    int64_t from;  ///< old time
    int64_t to;    ///< new time
  };
  MainThread() : file_(kRoom) {}

  void add(Knot knot) {
    if (count_ > 0) knot.from = std::max(knot.from, last_.from);
    last_ = knot;
    ++count_;
    open_.push_back(knot);
    if (open_.size() < kChunk) return;
    chunks_.push_back(file_.append(std::as_bytes(std::span(open_))));
    open_.clear();
  }

  /// New times of another location, whose old ones come in order.
  class Follower {
   public:
    explicit Follower(const MainThread& way) : way_(&way) {}

    int64_t operator()(int64_t time) {
      if (way_->count_ == 0) return time;
      while (next_ < way_->count_ && knot(next_).from <= time) before_ = knot(next_++);
      if (next_ == 0) return knot(0).to - (knot(0).from - time);
      if (next_ == way_->count_ || time < before_.from) return before_.to + (time - before_.from);
      const Knot after = knot(next_);
      const int64_t old_length = after.from - before_.from;
      const int64_t new_length = after.to - before_.to;
      if (old_length == new_length) return before_.to + (time - before_.from);
      const double part =
          static_cast<double>(time - before_.from) / static_cast<double>(old_length);
      return before_.to + static_cast<int64_t>(part * static_cast<double>(new_length));
    }

   private:
    Knot knot(uint64_t number) {
      const uint64_t chunk = number / kChunk;
      if (chunk >= way_->chunks_.size()) return way_->open_[number % kChunk];
      if (chunk != in_memory_) {
        knots_.resize(kChunk);
        const std::span<std::byte> to = std::as_writable_bytes(std::span(knots_));
        if (const std::byte* kept = way_->file_.kept_at(way_->chunks_[chunk])) {
          std::copy_n(kept, to.size(), to.begin());
        } else {
          way_->file_.read(way_->chunks_[chunk], to);
        }
        in_memory_ = chunk;
      }
      return knots_[number % kChunk];
    }

    const MainThread* way_;
    uint64_t next_ = 0;
    Knot before_ = {};
    std::vector<Knot> knots_;
    uint64_t in_memory_ = UINT64_MAX;
  };

 private:
  static constexpr size_t kRoom = 1 << 20;  ///< bytes that stay in memory
  static constexpr size_t kChunk = 512;

  CallFile file_;
  std::vector<uint64_t> chunks_;
  std::vector<Knot> open_;
  uint64_t count_ = 0;
  Knot last_ = {};
};

}  // namespace rubato
