#include "replay/store/packed_calls.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstring>

#include "replay/store/call_file.h"

namespace rubato {
namespace {

constexpr size_t kActions = 320;  ///< of a piece: 10 KiB
constexpr size_t kShapes = 256;   ///< of a piece: 6 KiB; far below the limit of 14 bits
constexpr size_t kTable = 2048;   ///< a power of two, far above the number of shapes in a piece

constexpr int kMostAlike = 4;  ///< shapes that differ only in their slots

/// An action as words: kind, flags, op, comm | peer, slot | bytes | tag, order. A collective has
/// its order in place of the slot, and another number of bytes in the last word.
struct ActionWords {
  uint64_t word[4];
  explicit ActionWords(const Action& action) { std::memcpy(word, &action, sizeof word); }
};
static_assert(sizeof(ActionWords) == sizeof(Action) && offsetof(Action, message) == 8 &&
              offsetof(MessageAction, slot) == 4 && offsetof(MessageAction, bytes) == 8 &&
              offsetof(MessageAction, tag) == 16 && offsetof(MessageAction, order) == 20);

// The bits of the second and fourth word that belong to the shape, by kind: no slots and orders.
constexpr uint64_t kSecondMask = UINT32_MAX;
constexpr std::array<uint64_t, kActionKinds> fourth_masks() {
  std::array<uint64_t, kActionKinds> masks{};
  masks.fill(UINT32_MAX);
  masks[static_cast<size_t>(ActionKind::kCollective)] = UINT64_MAX;
  masks[static_cast<size_t>(ActionKind::kWaitCollective)] = UINT64_MAX;
  return masks;
}
constexpr std::array<uint64_t, kActionKinds> kFourthMasks = fourth_masks();

/// True when two actions differ at most in slot and order.
inline bool same_but_requests(const Action& a, const Action& b) {
  const ActionWords x(a), y(b);
  const uint64_t fourth_mask = kFourthMasks[static_cast<size_t>(a.kind)];
  const uint64_t differs = (x.word[0] ^ y.word[0]) | ((x.word[1] ^ y.word[1]) & kSecondMask) |
                           (x.word[2] ^ y.word[2]) | ((x.word[3] ^ y.word[3]) & fourth_mask);
  // An order is never kNoSlot.
  return differs == 0 && (a.request.slot == kNoSlot) == (b.request.slot == kNoSlot);
}

bool numbered(const Call& call, const Action* actions) {
  for (uint32_t i = 0; i < call.actions; ++i) {
    const uint32_t* order = order_of(actions[i]);
    if (order && *order > 0) return true;
  }
  return false;
}

size_t hash(const Call& call, const Action* actions) {
  uint64_t h = call.name * 0x9E3779B97F4A7C15u + call.actions;
  for (uint32_t i = 0; i < call.actions; ++i) {
    const ActionWords action(actions[i]);
    const uint64_t fourth = action.word[3] & kFourthMasks[static_cast<size_t>(actions[i].kind)];
    const uint64_t peer_and_tag = (action.word[1] & kSecondMask) ^ fourth << 32;
    h = (h ^ action.word[0] ^ peer_and_tag ^ action.word[2]) * 0xC2B2AE3D27D4EB4Fu;
    h ^= h >> 29;
  }
  return h ^ h >> 32;
}

template <typename T>
void append(std::vector<std::byte>& bytes, size_t& at, const T* values, size_t count) {
  if (count > 0) std::memcpy(bytes.data() + at, values, count * sizeof(T));
  at += count * sizeof(T);
}

}  // namespace

CallPacker::CallPacker(bool with_records) : with_records_(with_records), table_(kTable, kNone) {}

void CallPacker::start_piece() {
  taken_ = false;
  full_ = false;
  header_ = {};
  header_.time = time_;
  header_.event = event_;
  header_.longest = kMostTimes;
  used_ = 0;
  shapes_.clear();
  actions_.clear();
  follower_.clear();
  table_.assign(kTable, kNone);
  last_ = kNone;
}

namespace {

/// True when everything except the actions is the same.
inline bool same_head(const CallShape& shape, const Call& call, uint64_t records) {
  const auto role = [](const auto& of) { return static_cast<uint32_t>(of.role); };
  const uint64_t differs =
      (shape.records ^ records) | (shape.actions ^ call.actions) |
      (shape.function_records ^ call.function_records) |
      static_cast<uint32_t>((shape.name ^ call.name) | (role(shape) ^ role(call)) |
                            (shape.spinning ^ call.spinning));
  return differs == 0;
}

}  // namespace

inline bool CallPacker::resembles(const CallShape& shape, const Call& call, uint64_t records,
                                  const Action* actions) const {
  if (!same_head(shape, call, records)) return false;
  const Action* known = actions_.data() + shape.first_action;
  for (uint32_t i = 0; i < shape.actions; ++i) {
    if (!same_but_requests(known[i], actions[i])) return false;
  }
  return !may_be_numbered_ || shape.numbered == numbered(call, actions);
}

inline bool CallPacker::equals(const CallShape& shape, const Call& call, uint64_t records,
                               const Action* actions) const {
  if (shape.open) return resembles(shape, call, records, actions);
  return same_head(shape, call, records) &&
         (shape.actions == 0 || std::memcmp(actions_.data() + shape.first_action, actions,
                                            shape.actions * sizeof(Action)) == 0);
}

inline uint16_t CallPacker::shape_of(const Call& call, uint64_t records, const Action* actions) {
  // The successor of the previous shape is mostly the same as last time.
  const uint16_t before = last_;
  if (before != kNone) {
    const uint16_t guess = follower_[before];
    if (guess != kNone && equals(shapes_[guess], call, records, actions)) return last_ = guess;
  }
  last_ = look_up(call, records, actions);
  if (before != kNone) follower_[before] = last_;
  return last_;
}

[[gnu::always_inline]] inline void CallPacker::add_call(const Block& block, size_t number,
                                                        uint16_t shape) {
  const Call& call = block.calls[number];
  const Action* actions = block.actions.data() + call.first_action;
  event_ = call.event;
  make_space(kMostTimes + size_t{5} * call.actions);
  const size_t before = used_;
  add_times(call.enter, call.leave, shape);
  const CallShape& what = shapes_[shape];
  if (what.open) {
    what.numbered ? add_requests<true>(actions, call.actions)
                  : add_requests<false>(actions, call.actions);
  }
  if (with_records_) add_records(block, number);
  header_.longest = std::max(header_.longest, static_cast<uint32_t>(used_ - before));
}

uint16_t CallPacker::add(const Block& block, size_t number) {
  if (taken_) start_piece();
  const Call& call = block.calls[number];
  const Action* actions = block.actions.data() + call.first_action;
  const uint16_t shape = shape_of(call, call.event - event_, actions);
  add_call(block, number, shape);
  return shape;
}

size_t CallPacker::add_alike(const Block& block, size_t number) {
  const CallShape& shape = shapes_[last_];
  if (with_records_ || shape.actions > 0) return 0;
  const Call* const first = block.calls.data() + number;
  const Call* const end = block.calls.data() + block.calls.size();
  const Call* next = first + 1;
  for (; next != end && used_ < kUnits; ++next) {
    if (!same_head(shape, *next, next->event - event_)) break;
    event_ = next->event;
    make_space(kMostTimes);
    add_times(next->enter, next->leave, last_);
  }
  const auto alike = static_cast<size_t>(next - first - 1);
  if (alike > 0) follower_[last_] = last_;
  return alike;
}

uint32_t CallPacker::add_alone(const Block& block, size_t number) {
  if (taken_) start_piece();
  const Call& call = block.calls[number];
  const Action* actions = block.actions.data() + call.first_action;
  // It cannot be found: it is not in the table, and is no successor.
  last_ = add_shape(call, call.event - event_, actions, false);
  add_call(block, number, last_);
  return shapes_[last_].first_action;
}

template <bool kNumbered>
void CallPacker::add_requests(const Action* actions, uint32_t count) {
  for (const Action* action = actions; action != actions + count; ++action) {
    if (const uint32_t* slot = request_of(*action)) {
      const bool is_far = *slot >= kFarSlot;
      units_[used_++] = is_far ? kFarSlot : static_cast<uint16_t>(*slot);
      if (is_far) put(*slot, 2);
    }
    if (!kNumbered) continue;
    if (const uint32_t* order = order_of(*action)) put(*order, 2);
  }
}

uint16_t CallPacker::look_up(const Call& call, uint64_t records, const Action* actions) {
  size_t i = hash(call, actions) % kTable;
  int alike = 0;
  for (; table_[i] != kNone; i = (i + 1) % kTable) {
    const CallShape& shape = shapes_[table_[i]];
    if (equals(shape, call, records, actions)) return table_[i];
    alike += resembles(shape, call, records, actions);
  }
  const bool open = alike == kMostAlike || numbered(call, actions);
  return table_[i] = add_shape(call, records, actions, open);
}

uint16_t CallPacker::add_shape(const Call& call, uint64_t records, const Action* actions,
                               bool open) {
  CallShape shape;
  static_cast<CallFacts&>(shape) = call;
  shape.first_action = static_cast<uint32_t>(actions_.size());
  shape.records = records;
  shape.open = open;
  shape.numbered = numbered(call, actions);
  for (uint32_t i = 0; open && i < call.actions; ++i)
    shape.requests += request_of(actions[i]) != nullptr;
  may_be_numbered_ = may_be_numbered_ || shape.numbered;
  shapes_.push_back(shape);
  follower_.push_back(kNone);
  actions_.insert(actions_.end(), actions, actions + call.actions);
  full_ = actions_.size() >= kActions || shapes_.size() >= kShapes;
  return static_cast<uint16_t>(shapes_.size() - 1);
}

void CallPacker::add_records(const Block& block, size_t number) {
  const size_t first = block.calls[number].first_record;
  const size_t end =
      number + 1 < block.calls.size() ? block.calls[number + 1].first_record : block.records.size();
  make_space(2 + 5 * (end - first));
  put(end - first, 2);
  for (size_t i = first; i < end; ++i) {
    put(std::bit_cast<uint64_t>(block.records[i].time), 4);
    put(static_cast<uint64_t>(block.records[i].phase), 1);
  }
}

PackedPiece CallPacker::take() {
  taken_ = true;
  header_.shapes = static_cast<uint32_t>(shapes_.size());
  header_.actions = static_cast<uint32_t>(actions_.size());
  header_.numbered = may_be_numbered_ ? 1 : 0;
  const size_t bytes = header_.head_bytes() + used_ * sizeof(uint16_t);
  if (piece_.size() < bytes) piece_.resize(bytes);
  size_t at = 0;
  append(piece_, at, &header_, 1);
  append(piece_, at, shapes_.data(), shapes_.size());
  append(piece_, at, actions_.data(), actions_.size());
  append(piece_, at, units_.data(), used_);
  return {{piece_.data(), bytes}, header_.head_bytes()};
}

void CallPacker::add_to(CallUses& uses) const {
  for (const CallShape& shape : shapes_) uses.names.insert(shape.name);
  for (const Action& action : actions_) {
    if (action.kind == ActionKind::kSend && action.flags & kSynchronous)
      uses.synchronous_sends = true;
  }
}

namespace {

inline uint64_t mix(uint64_t h) {
  h *= 0x9E3779B97F4A7C15u;
  return h ^ h >> 29;
}

inline bool same(std::span<const Action> a, std::span<const Action> b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

}  // namespace

SharedShapes::Shapes SharedShapes::find(std::span<const CallShape> shapes,
                                        std::span<const Action> actions) {
  wanted_.shapes.assign(shapes.begin(), shapes.end());
  wanted_.actions.clear();
  wanted_.own_actions = 0;
  uint64_t h = shapes.size();
  for (CallShape& shape : wanted_.shapes) {
    h = mix(h ^ shape.name ^ uint64_t{shape.actions} << 16 ^ shape.records << 32);
    const std::span<const Action> does = actions.subspan(shape.first_action, shape.actions);
    const auto is_own = [](const Action& action) {
      return is_on_channel(action) || is_packing(action);  // the latter is completed by rules
    };
    if (shape.open || std::any_of(does.begin(), does.end(), is_own)) {
      shape.first_action = wanted_.own_actions;
      wanted_.own_actions += shape.actions;
    } else {
      shape.first_action = static_cast<uint32_t>(wanted_.actions.size()) | kCommonActions;
      wanted_.actions.insert(wanted_.actions.end(), does.begin(), does.end());
      for (const Action& action : does) {
        const ActionWords words(action);
        h = mix(h ^ words.word[1] >> 32 ^ words.word[2] << 32);
      }
    }
    shape.note_kind(does);
  }
  Shapes& known = known_[h % known_.size()];
  if (known && known->shapes == wanted_.shapes && same(known->actions, wanted_.actions))
    return known;
  wanted_.traffic.assign(wanted_.actions.size(), {});
  for (const CallShape& shape : wanted_.shapes) {
    if (shape.actions > 1 && shape.has_common_actions()) {
      const uint32_t first = shape.action_index();
      wanted_.traffic[first] = traffic_of({wanted_.actions.data() + first, shape.actions});
    }
  }
  return known = std::make_shared<const CommonShapes>(wanted_);
}

void CallUnpacker::start(const PiecePlace& place) {
  // All parts are aligned: the sizes of those before are multiples of eight bytes.
  static_assert(sizeof(PieceHeader) % 8 == 0 && sizeof(CallShape) % 8 == 0);
  const std::byte* const kept = file_->kept_at(place.offset);
  const std::byte* const head = kept ? kept : read_head(place);
  std::memcpy(&header_, head, sizeof header_);
  assert(header_.head_bytes() == place.head);
  const std::span<const CallShape> shapes(reinterpret_cast<const CallShape*>(head + sizeof header_),
                                          header_.shapes);
  packed_shapes_ = shapes.data();
  actions_ = reinterpret_cast<const Action*>(shapes.data() + shapes.size());
  common_ = known_shapes_->find(shapes, {actions_, header_.actions});
  shapes_ = common_->shapes.data();
  numbered_ = header_.numbered != 0;
  time_ = header_.time;
  event_ = header_.event;
  static std::atomic<uint64_t> started = 0;
  piece_number_ = ++started;

  if (kept) {
    next_ = reinterpret_cast<const uint16_t*>(kept + place.head);
    whole_ = end_ = next_ + place.units / sizeof(uint16_t);
    left_ = 0;
  } else {
    open_window(place);
  }
}

const std::byte* CallUnpacker::read_head(const PiecePlace& place) {
  head_.resize(place.head / sizeof(uint64_t));
  const auto bytes = std::as_writable_bytes(std::span(head_));
  file_->read(place.offset, bytes);
  return bytes.data();
}

void CallUnpacker::open_window(const PiecePlace& place) {
  const size_t window = std::max(kWindow, size_t{2} * header_.longest);
  window_.resize(std::min(window, place.units / sizeof(uint16_t)));
  next_ = end_ = window_.data();
  offset_ = place.offset + place.head;
  left_ = place.units;
  move_window();
}

void CallUnpacker::move_window() {
  uint16_t* const window = window_.data();
  const auto kept = static_cast<size_t>(end_ - next_);
  std::copy(next_, end_, window);
  const size_t more = std::min(left_ / sizeof(uint16_t), window_.size() - kept);
  const auto bytes = std::as_writable_bytes(std::span(window + kept, more));
  file_->read(offset_, bytes);
  offset_ += bytes.size();
  left_ -= bytes.size();
  next_ = window;
  end_ = window + kept + more;
  whole_ = left_ == 0 ? end_ : end_ - header_.longest;
}

void CallUnpacker::read_requests(Call& call, Block& block) {
  const CallShape& shape = *last_;
  const size_t first_request = block.requests.size();
  call.first_request = static_cast<uint32_t>(first_request);
  if (!numbered_) {
    block.requests.resize(first_request + shape.requests);
    uint32_t* slot = block.requests.data() + first_request;
    for (const uint32_t* end = slot + shape.requests; slot != end; ++slot) *slot = get_slot();
    return;
  }
  const Action* first = block.actions.data() + shape.action_index();
  for (const Action* action = first; action != first + shape.actions; ++action) {
    if (action->has_request) block.requests.push_back(get_slot());
    if (order_of(*action)) block.requests.push_back(shape.numbered ? get2() : 0);
  }
}

void CallUnpacker::read_rest(Call& call, Block& block) {
  block.calls.resize(1);
  block.requests.clear();
  block.records.clear();
  if (last_->open) read_requests(call, block);
  if (with_records_) read_records(call, block);
}

bool CallUnpacker::read(Block& block, size_t at_most) {
  if (!has_more()) return false;
  if (block.shared != piece_number_) share_actions(block);
  block.requests.clear();
  block.records.clear();
  block.calls.resize(at_most);
  size_t count = 0;
  while (count < at_most && has_more()) {
    Call& call = block.calls[count++];
    read_facts(call);
    call.first_request = kNoRequests;
    call.first_record = 0;
    if (last_->open) read_requests(call, block);
    if (with_records_) read_records(call, block);
  }
  block.calls.resize(count);
  return true;
}

void CallUnpacker::share_actions(Block& block) const {
  block.shared = piece_number_;
  block.numbered = numbered_;
  block.common = common_;
  block.actions.resize(common_->own_actions);
  block.traffic.resize(common_->own_actions);
  for (uint32_t i = 0; i < header_.shapes; ++i) {
    if (shapes_[i].has_common_actions()) continue;
    const std::span<const Action> does(actions_ + packed_shapes_[i].first_action,
                                       shapes_[i].actions);
    Action* own = block.actions.data() + shapes_[i].action_index();
    if (does.size() > 1) block.traffic[shapes_[i].action_index()] = traffic_of(does);
    for (const Action& action : does) {
      *own = action;
      own->has_request = request_of(action) != nullptr;
      ++own;
    }
  }
}

void CallUnpacker::read_records(Call& call, Block& block) {
  call.first_record = static_cast<uint32_t>(block.records.size());
  for (uint32_t left = get2(); left > 0; --left) {
    const double time = get_double();
    block.records.push_back({time, static_cast<RecordPhase>(*next_++)});
  }
}

}  // namespace rubato
