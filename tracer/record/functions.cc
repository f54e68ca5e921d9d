#include "tracer/record/functions.h"

#include <dlfcn.h>

#include <atomic>
#include <vector>

#include "tracer/code/function_filter.h"
#include "tracer/code/symbols.h"
#include "tracer/record/function_probe.h"
#include "tracer/record/recorder.h"

namespace rubato::tracing::functions {
namespace {

std::atomic<bool> on{false};

/// A function has called a hook without being recorded: main() before MPI_Init.
std::atomic<bool> hook_called{false};

void note_hook() {
  if (!hook_called.load(std::memory_order_relaxed))
    hook_called.store(true, std::memory_order_relaxed);
}

/// Low half: functions of this thread still to pass unrecorded. High half: functions entered minus
/// functions left meanwhile. One word, since its update is the whole cost of such a function.
thread_local uint64_t passing = 0;
constexpr uint64_t kPassEnter = (uint64_t{1} << 32) - 1;
constexpr uint64_t kPassLeave = ~uint64_t{0} - (uint64_t{1} << 32);

/// Called for the last of them.
[[gnu::noinline]] void end_passing() {
  ThreadLog* const log = Recorder::this_thread();
  log->depth += static_cast<int32_t>(passing >> 32);
  passing = 0;
  if (log->probe != nullptr && !log->busy) log->probe->passed(*log);
}

/// The functions that the filter excludes and that are loaded when recording starts; excluded
/// functions of libraries loaded later are dropped when the archive is written. Read-only after
/// construction, so it needs no lock. Open addressing, at most half full.
class Excluded {
 public:
  void fill(const FunctionFilter& filter) {
    std::vector<uint64_t> addresses;
    for (const auto& [address, name] : Symbols(modules::seen()).functions()) {
      if (!filter.includes(name)) addresses.push_back(address);
    }
    if (addresses.empty()) return;
    while (size_t{1} << bits_ < 2 * addresses.size()) ++bits_;
    slots_.resize(size_t{1} << bits_);
    for (const uint64_t address : addresses) *slot(address) = address;
  }

  bool has(uint64_t address) { return !slots_.empty() && *slot(address) == address; }

 private:
  /// Where the address is, or the empty place where it would be.
  uint64_t* slot(uint64_t address) {
    uint64_t at = address * 0x9e3779b97f4a7c15u >> (64 - bits_);
    while (slots_[at] != 0 && slots_[at] != address) at = (at + 1) & (slots_.size() - 1);
    return &slots_[at];
  }

  unsigned bits_ = 4;
  std::vector<uint64_t> slots_;
};

/// Null: none is excluded. Never freed, since functions are called until the process ends.
Excluded* excluded = nullptr;

/// True during a sample of the recording cost, which another record would spoil; but a long gap is
/// no sample.
bool asking_can_wait(const ThreadLog& log, uint64_t now) {
  return log.probe != nullptr && log.probe->is_sampling() && now - log.last < Recorder::stretch();
}

void put(ThreadLog& log, unsigned mark, uint64_t address, int depth) {
  if (log.limit - log.at < static_cast<ptrdiff_t>(kFreeWords) &&
      !Recorder::refill(log, kFreeWords, true)) {
    return;
  }
  if (log.switches != Recorder::switches()) [[unlikely]]
    Recorder::catch_up(log);
  if (log.muted) return;
  Recorder::note_code(log, address);
  if (log.counters != nullptr) [[unlikely]]
    log.counters->enter();
  uint64_t now = Clock::now();
  if (Recorder::is_to_ask(log, log.last, now) && !asking_can_wait(log, now)) [[unlikely]]
    now = Recorder::long_gap(log, now);
  if (log.counters != nullptr) [[unlikely]]
    Recorder::put_counters(log, now);
  log.at[1] = function_word(address, depth);
  log.at[0] = record::head(now - Recorder::zero(), mark);
  log.last = now;
  log.at += kHeadWords;
}

}  // namespace

void note(unsigned mark, const void* function) {
  if (!Recorder::on()) return;
  ThreadLog* log = Recorder::this_thread();
  if (log == nullptr || log->busy) return;
  const auto address = reinterpret_cast<uint64_t>(function);
  if (excluded != nullptr && excluded->has(address)) {
    note_hook();
    return;
  }
  // A signal handler may be a recorded function too; it is not recorded meanwhile.
  log->busy = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (mark == kMarkFunctionLeave) --log->depth;
  put(*log, mark, address, log->depth);
  if (mark == kMarkFunctionEnter) ++log->depth;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  log->busy = false;
}

FunctionHooks hooks() {
  Dl_info first, own;
  const void* hook = dlsym(RTLD_DEFAULT, "__cyg_profile_func_enter");
  if (hook != nullptr && dladdr(hook, &first) != 0 &&
      dladdr(reinterpret_cast<const void*>(&note_hook), &own) != 0 &&
      first.dli_fbase != own.dli_fbase) {
    return FunctionHooks::kOthers;
  }
  return hook_called.load(std::memory_order_relaxed) ? FunctionHooks::kSeen
                                                     : FunctionHooks::kUnseen;
}

void pass(uint32_t functions) {
  passing = functions;
}

uint32_t stop_passing() {
  const auto left = static_cast<uint32_t>(passing);
  Recorder::this_thread()->depth += static_cast<int32_t>(passing >> 32);
  passing = 0;
  return left;
}

void start(const std::string& filter) {
  const FunctionFilter rules(filter);
  if (!rules.empty()) {
    excluded = new Excluded;
    excluded->fill(rules);
  }
  // No probe with a filter: excluded functions would pass uncounted among the recorded ones. No
  // probe with counters, whose readings take most of the time, in a loop as in the program.
  if (excluded == nullptr && ThreadCounters::count() == 0) FunctionProbe::want();
  on.store(true, std::memory_order_release);
}

extern "C" {

__attribute__((visibility("default"))) void __cyg_profile_func_enter(void* function, void*) {
  if (passing != 0) [[unlikely]] {
    passing += kPassEnter;
    if (static_cast<uint32_t>(passing) == 0) end_passing();
    return;
  }
  if (on.load(std::memory_order_acquire)) {
    note(kMarkFunctionEnter, function);
  } else {
    note_hook();
  }
}
__attribute__((visibility("default"))) void __cyg_profile_func_exit(void* function, void*) {
  if (passing != 0) [[unlikely]] {
    passing += kPassLeave;
    if (static_cast<uint32_t>(passing) == 0) end_passing();
    return;
  }
  if (on.load(std::memory_order_acquire)) note(kMarkFunctionLeave, function);
}

}  // extern "C"

}  // namespace rubato::tracing::functions
