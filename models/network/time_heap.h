#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rubato {

/// Heap of items by time; the time of any item can be changed. Items are small numbers; among equal
/// times the smaller item comes first.
class TimeHeap {
 public:
  bool empty() const { return heap_.empty(); }
  double time() const { return heap_[0].time; }
  uint32_t item() const { return heap_[0].item; }

  /// Sets the time of an item, which may be new.
  void set(uint32_t item, double time) {
    if (item >= places_.size()) places_.resize(item + 1, kNowhere);
    size_t at = places_[item];
    if (at == kNowhere) {
      at = heap_.size();
      heap_.push_back({time, item});
    }
    heap_[at].time = time;
    sift(at);
  }
  void erase(uint32_t item) {
    if (item >= places_.size() || places_[item] == kNowhere) return;
    const size_t at = places_[item];
    places_[item] = kNowhere;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (at == heap_.size()) return;
    heap_[at] = last;
    sift(at);
  }

 private:
  static constexpr uint32_t kNowhere = UINT32_MAX;
  static constexpr size_t kWay = 4;

  struct Entry {
    double time;
    uint32_t item;
    bool before(const Entry& other) const {
      return time != other.time ? time < other.time : item < other.item;
    }
  };

  /// The entry at `at` may be too far down or too far up.
  void sift(size_t at) {
    const Entry entry = heap_[at];
    while (at > 0 && entry.before(heap_[(at - 1) / kWay])) {
      put(at, heap_[(at - 1) / kWay]);
      at = (at - 1) / kWay;
    }
    for (;;) {
      size_t least = at;
      const Entry* first = &entry;
      for (size_t child = at * kWay + 1; child <= at * kWay + kWay && child < heap_.size();
           ++child) {
        if (!heap_[child].before(*first)) continue;
        least = child;
        first = &heap_[child];
      }
      if (least == at) break;
      put(at, *first);
      at = least;
    }
    put(at, entry);
  }
  void put(size_t at, const Entry& entry) {
    heap_[at] = entry;
    places_[entry.item] = static_cast<uint32_t>(at);
  }

  std::vector<Entry> heap_;
  std::vector<uint32_t> places_;  ///< by item
};

}  // namespace rubato
