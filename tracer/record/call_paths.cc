#include "tracer/record/call_paths.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "tracer/mpi/loaded_objects.h"
#include "tracer/mpi/symbol_lookup.h"
#include "tracer/record/function_probe.h"
#include "tracer/record/recorder.h"

namespace rubato {
inline namespace tracing {
namespace {

/// Code that is no part of the program's paths.
struct OtherCode {
  objects::Range tracer;
  objects::Range libc;
  objects::Range start;   ///< the program's entry, which calls main() through libc
  objects::Range linker;  ///< the dynamic linker, which binds functions at their first call

  bool is_outside(uint64_t address) const {
    const auto code = reinterpret_cast<const void*>(address);
    return libc.has(code) || tracer.has(code) || start.has(code);
  }
  bool is_own(uint64_t address) const { return tracer.has(reinterpret_cast<const void*>(address)); }
  bool is_linker(uint64_t address) const {
    return linker.has(reinterpret_cast<const void*>(address));
  }
};

const OtherCode& other_code() {
  static const OtherCode* const code = [] {
    constexpr uintptr_t kStartBytes = 64;
    const uintptr_t entry = getauxval(AT_ENTRY);
    const auto base = reinterpret_cast<const void*>(getauxval(AT_BASE));  // of the linker
    const link_map* const linker = base == nullptr ? nullptr : objects::holding(base);
    return new OtherCode{objects::range_of_code(&other_code),
                         objects::range_of_code(&pthread_getattr_np),
                         {entry, entry + kStartBytes},
                         linker == nullptr ? objects::Range{} : objects::range_of(*linker)};
  }();
  return *code;
}

template <class Node>
Node* new_table(unsigned bits) {
  void* memory = mmap(nullptr, sizeof(Node) << bits, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<Node*>(memory);
}

uint64_t hash_of(uint64_t address, uint32_t parent, unsigned bits) {
  const uint64_t mixed = (address ^ uint64_t{parent} * 0xc2b2ae3d27d4eb4fu) * 0x9e3779b97f4a7c15u;
  return (mixed ^ mixed >> 32) * 0x9e3779b97f4a7c15u >> (64 - bits);
}

}  // namespace

CallPaths* CallPaths::prepare(ThreadLog& log) {
  CallPaths* paths = log.paths;
  if (paths == nullptr) {
    void* memory = mmap(nullptr, sizeof(CallPaths), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    paths = new (memory) CallPaths;
    if (!paths->grow()) {
      munmap(memory, sizeof(CallPaths));
      return nullptr;
    }
  }
  other_code();
  paths->walk_.use_own_stack();
  return paths;
}

bool CallPaths::grow() {
  constexpr unsigned kFirstBits = 10;
  const unsigned bits = table_ == nullptr ? kFirstBits : bits_ + 1;
  Node* const table = new_table<Node>(bits);
  if (table == nullptr) return false;
  const size_t mask = (size_t{1} << bits) - 1;
  for (size_t i = 0; table_ != nullptr && i < size_t{1} << bits_; ++i) {
    if (table_[i].number == 0) continue;
    size_t at = hash_of(table_[i].address, table_[i].parent, bits);
    while (table[at].number != 0) at = (at + 1) & mask;
    table[at] = table_[i];
  }
  if (table_ != nullptr) munmap(table_, sizeof(Node) << bits_);
  table_ = table;
  bits_ = bits;
  return true;
}

uint32_t CallPaths::child(ThreadLog& log, uint32_t parent, uint64_t address, bool is_function) {
  const uint64_t key = is_function ? address | kPathOfFunction : address;
  const size_t mask = (size_t{1} << bits_) - 1;
  size_t at = hash_of(key, parent, bits_);
  for (; table_[at].number != 0; at = (at + 1) & mask) {
    if (table_[at].address == key && table_[at].parent == parent) return table_[at].number;
  }
  if (log.muted || nodes_ == kMostNodes) return 0;
  if (2 * (nodes_ + 1) > mask) {
    if (!grow()) return 0;
    return child(log, parent, address, is_function);
  }
  constexpr size_t kWords = kFreeWords + kPathWords;
  if (log.limit - log.at < static_cast<ptrdiff_t>(kWords)) {
    // A probe is allocated, which no signal handler may do.
    if (in_handler_ && FunctionProbe::wanted() && log.probe == nullptr) return 0;
    if (!Recorder::refill(log, kWords)) return 0;
  }
  uint64_t function = address;
  if (!is_function) {
    find_frame_rule(address - 1, function);
    if (function == 0) function = address - 1;
    if (!in_handler_) modules::note(address);
  }
  table_[at] = {key, parent, ++nodes_};
  Recorder::put_path(log, nodes_, parent, key, function);
  return nodes_;
}

uint32_t CallPaths::node_of(ThreadLog& log, const uint64_t* frames, size_t count, uint64_t leaf) {
  uint32_t node = 0;
  if (count > 0) {
    Recent& recent = recent_[frames[0] * 0x9e3779b97f4a7c15u >> 61];
    size_t i = 0;
    const size_t most = std::min(count, recent.count);
    while (i < most && frames[count - 1 - i] == recent.addresses[i]) ++i;
    if (i > 0) node = recent.nodes[i - 1];
    for (recent.count = count; i < count; ++i) {
      const uint64_t address = frames[count - 1 - i];
      node = child(log, node, address, false);
      if (node == 0) {
        recent.count = i;
        return 0;
      }
      recent.addresses[i] = address;
      recent.nodes[i] = node;
    }
  }
  return leaf == 0 ? node : child(log, node, leaf, true);
}

uint32_t CallPaths::of_call(ThreadLog& log) {
  constexpr uint64_t kPartOfStretch = 25;  // 20 us: beyond that the core was lost
  const uint64_t begin = Clock::now();
  bool ended;
  const auto frames = walk_.walk(WalkStart::here(), false, ended);
  const OtherCode& others = other_code();
  size_t first = 0, end = frames.size();
  // MPI's bindings for other languages, and wrapper libraries, call MPI for the program.
  const auto is_binding = [&](uint64_t address) {
    if (address == program_ || log.code.has(address)) return false;
    if (log.bindings.has(address)) return true;
    const modules::Range range = modules::note(address);
    (range.bindings ? log.bindings : log.code) = range;
    return range.bindings;
  };
  while (first < end && (others.is_own(frames[first]) || is_binding(frames[first]))) ++first;
  while (ended && end > first + 1 && others.is_outside(frames[end - 1])) --end;
  if (first < end) program_ = frames[first];
  const uint32_t known = nodes_;
  const bool is_first = log.last == 0;  // perhaps MPI_Init, which began before
  const uint32_t node = node_of(log, frames.data() + first, end - first, 0);
  const uint64_t now = Clock::now();
  if (nodes_ != known && !is_first) {
    Recorder::tracer_time(log, std::max(begin, log.last), now);
  } else if (nodes_ == known && now - begin < Recorder::stretch() / kPartOfStretch) {
    cost_.ticks += static_cast<double>(now - begin);
    ++cost_.calls;
  }
  return node;
}

uint32_t CallPaths::of_sample(ThreadLog& log, const WalkStart& at) {
  in_handler_ = true;
  bool ended;
  const std::span<uint64_t> frames = walk_.walk(at, true, ended);
  const OtherCode& others = other_code();
  size_t first = 0, end = frames.size();
  const auto is_outer = [&](uint64_t address) {
    return ended ? others.is_outside(address) : others.is_own(address);
  };
  while (end > 0 && is_outer(frames[end - 1])) --end;
  // What the tracer calls is no work of the program; what the linker does is work of its caller.
  for (size_t i = 0; i < end; ++i) {
    if (others.is_own(frames[i])) first = i + 1;
  }
  const auto is_linker = [&](uint64_t address) { return others.is_linker(address); };
  const auto kept = std::remove_if(frames.begin() + static_cast<ptrdiff_t>(first),
                                   frames.begin() + static_cast<ptrdiff_t>(end), is_linker);
  end = static_cast<size_t>(kept - frames.begin());
  uint64_t leaf = 0;
  if (first == 0 && !others.is_own(at.address) && !is_linker(at.address)) {
    constexpr uint64_t kBlock = 256;  // code without unwind tables
    find_frame_rule(at.address, leaf);
    if (leaf == 0) leaf = at.address & ~(kBlock - 1);
  }
  const uint32_t node = node_of(log, frames.data() + first, end - first, leaf);
  in_handler_ = false;
  return node;
}

CallPaths::Cost CallPaths::cost() {
  Cost all;
  for (const ThreadLog* log = Recorder::threads(); log != nullptr; log = log->next) {
    if (log->paths == nullptr) continue;
    all.ticks += log->paths->cost_.ticks;
    all.calls += log->paths->cost_.calls;
  }
  return all;
}

extern "C" __attribute__((visibility("default"))) int dlclose(void* handle) noexcept {
  using Dlclose = int (*)(void*);
  static const auto real = reinterpret_cast<Dlclose>(real_dlsym(RTLD_NEXT, "dlclose"));
  if (real == nullptr) return -1;
  const int result = real(handle);
  StackWalk::forget_rules();  // another library may take the place
  return result;
}

}  // namespace tracing
}  // namespace rubato
