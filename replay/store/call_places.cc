#include "replay/store/call_places.h"

#include <algorithm>
#include <bit>

namespace rubato {
namespace {

constexpr size_t kPlacesRoom = 16 << 20;  ///< bytes that stay in memory
constexpr size_t kMostParts = 255;

}  // namespace

CallPlaces::CallPlaces(int timelines) : timelines_(timelines), file_(kPlacesRoom) {}

void CallPlaces::forget(int timeline) {
  timelines_[timeline] = {};
}

void CallPlaces::call_paths(int timeline, const CallTree& paths) {
  timelines_[timeline].paths.clear();
  for (const CallTree::Node& node : paths.nodes())
    timelines_[timeline].paths.push_back({node.parent, node.function});
}

uint32_t CallPlaces::Reader::caller_of(const FunctionPart& part) const {
  const std::vector<CalledPath>& paths = places_->timelines_[timeline_].paths;
  return part.path < paths.size() ? paths[paths[part.path].caller].function : kNoPlace;
}

void CallPlaces::add(int number, uint64_t event, uint32_t function, uint32_t path, uint32_t site,
                     std::span<const FunctionPart> before) {
  Timeline& timeline = timelines_[number];
  const bool moved =
      timeline.function != function || timeline.path != path || timeline.site != site;
  if (!moved && before.empty()) return;
  std::vector<uint32_t>& open = timeline.open;
  before = before.first(std::min(before.size(), kMostParts));
  const uint64_t events = event - timeline.event;
  const bool far = events > kNear;
  open.push_back(static_cast<uint32_t>(events & kNear) |
                 static_cast<uint32_t>(before.size()) << 20 | (moved ? kMoved : 0) |
                 (far ? kFar : 0));
  if (far) open.push_back(static_cast<uint32_t>(events >> 20));
  if (moved) open.insert(open.end(), {function, path, site});
  for (const FunctionPart& part : before)
    open.insert(open.end(), {part.function, std::bit_cast<uint32_t>(static_cast<float>(part.ticks)),
                             part.probes, part.path});
  timeline.event = event;
  timeline.function = function;
  timeline.path = path;
  timeline.site = site;
  if (open.size() < kChunk) return;
  const std::lock_guard lock(appends_);
  timeline.chunks.push_back(
      {file_.append(std::as_bytes(std::span(open))), static_cast<uint32_t>(open.size())});
  open.clear();
}

bool CallPlaces::Reader::load_chunk() {
  const Timeline& timeline = places_->timelines_[timeline_];
  next_ = 0;
  if (chunks_ > timeline.chunks.size()) return false;
  if (chunks_ == timeline.chunks.size()) {
    chunk_ = timeline.open;
  } else {
    const Chunk& chunk = timeline.chunks[chunks_];
    chunk_.resize(chunk.words);
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(chunk_));
    if (const std::byte* kept = places_->file_.kept_at(chunk.offset))
      std::copy_n(kept, bytes.size(), bytes.data());
    else
      places_->file_.read(chunk.offset, bytes);
  }
  ++chunks_;
  return true;
}

bool CallPlaces::Reader::read_entry() {
  while (next_ == chunk_.size()) {
    if (!load_chunk()) return false;
  }
  const uint32_t head = word();
  uint64_t events = head & kNear;
  if (head & kFar) events |= static_cast<uint64_t>(word()) << 20;
  entry_ += events;
  if (head & kMoved) {
    coming_.function = word();
    coming_.path = word();
    coming_.site = word();
  }
  coming_.before.clear();
  for (uint32_t left = head >> 20 & kMostParts; left > 0; --left) {
    FunctionPart part{word()};
    part.ticks = std::bit_cast<float>(word());
    part.probes = word();
    part.path = word();
    if (part.function < kFirstGapKind) {
      coming_.before.push_back(part);
      continue;
    }
    for (const FunctionPart& share :
         places_->timelines_[timeline_].kinds[part.function - kFirstGapKind])
      coming_.before.push_back({share.function, share.ticks * part.ticks, 0, share.path});
  }
  return true;
}

const CallPlace& CallPlaces::Reader::at(uint64_t event) {
  if (event == answered_) return place_;
  answered_ = event;
  place_.before.clear();
  while (!is_over_) {
    if (!is_read_) {
      is_over_ = !read_entry();
      is_read_ = !is_over_;
      if (is_over_) break;
    }
    if (entry_ > event) break;
    is_read_ = false;
    place_.function = coming_.function;
    place_.path = coming_.path;
    place_.site = coming_.site;
    if (entry_ == event) std::swap(place_.before, coming_.before);
  }
  return place_;
}

}  // namespace rubato
