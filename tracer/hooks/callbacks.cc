#include "tracer/hooks/callbacks.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <utility>

#include "tracer/code/modules.h"
#include "tracer/mpi/loaded_objects.h"
#include "tracer/mpi/pmpi.h"
#include "tracer/record/recorder.h"

namespace rubato {
inline namespace tracing {
namespace {

/// Any callback. Error handlers have a variable number of arguments, and for other functions the
/// difference is one register, which they ignore.
using Callback = void*(void*, ...);

struct Interposed {
  Callback* function = nullptr;
  CallbackKind kind{};
  std::atomic<bool> noted{false};  ///< its code is known to modules.h
};

std::mutex interposed_mutex;
size_t interposed_count = 0;
std::array<Interposed, kMostCallbacks> all_interposed;

/// While it lives a callback runs, also until an exception or the end of the thread leaves it.
class Running {
 public:
  Running(ThreadLog& log, uint64_t callback) : log_(log), callback_(callback) {
    log_.own_work.running = true;
    begin_ = Clock::now();
    // What was lost before is no part of the callback.
    if (!Recorder::is_to_ask(log_, begin_, begin_)) return;
    uint64_t before = 0;
    begin_ = Recorder::ask_stolen(log_, log_.asked, begin_, before);
    log_.own_work.stolen += before;
  }
  ~Running() {
    log_.own_work.add(callback_, with_a_core(Clock::now()));
    log_.own_work.running = false;
    log_.has_details = true;
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  /// The ticks until `end`, less those in which the thread had no core: they count as stolen inside
  /// of the call.
  uint64_t with_a_core(uint64_t end) {
    uint64_t stolen = 0;
    if (Recorder::is_to_ask(log_, begin_, end)) {
      Recorder::ask_stolen(log_, begin_, end, stolen);
      log_.own_work.stolen += stolen;
    }
    return end - begin_ - std::min(end - begin_, Recorder::ticks_of(stolen));
  }

  ThreadLog& log_;
  uint64_t callback_;
  uint64_t begin_;
};

[[gnu::noinline]] void* run(Interposed& callback, void* const* last, void* a, void* b, void* c,
                            void* d, void* e, void* f) {
  ThreadLog* const log = Recorder::open_call();
  if (log == nullptr || log->own_work.running) return callback.function(a, b, c, d, e, f, *last);
  const auto address = reinterpret_cast<uint64_t>(callback.function);
  if (!callback.noted.exchange(true, std::memory_order_relaxed)) modules::note(address);
  const Running running(*log, callback_word(callback.kind, address));
  return callback.function(a, b, c, d, e, f, *last);
}

/// The seventh argument, if there is one, is above the return address.
template <size_t i>
void* stub(void* a, void* b, void* c, void* d, void* e, void* f) {
  auto* const frame = static_cast<void**>(__builtin_frame_address(0));
  return run(all_interposed[i], frame + 2, a, b, c, d, e, f);
}

template <size_t... i>
constexpr auto make_stubs(std::index_sequence<i...>) {
  return std::array{&stub<i>...};
}
constexpr auto kStubs = make_stubs(std::make_index_sequence<kMostCallbacks>{});

/// Of an MPI library or its bindings: MPI_COMM_DUP_FN, or what translates the arguments of another
/// function that the tracer has seen.
bool is_of_mpi(const void* function) {
  const link_map* const object = objects::holding(function);
  return object != nullptr && objects::file_name(*object).starts_with("libmpi");
}

}  // namespace

void* interposed(void* function, CallbackKind kind) {
  const bool may_be_of_mpi =
      kind == CallbackKind::kOperation || kind == CallbackKind::kErrorHandler;
  if (function == nullptr || (!may_be_of_mpi && is_of_mpi(function))) return function;
  auto* const callback = reinterpret_cast<Callback*>(function);
  const std::lock_guard lock(interposed_mutex);
  const auto is_same = [&](const Interposed& c) {
    return c.function == callback && c.kind == kind;
  };
  size_t i = 0;
  while (i < interposed_count && !is_same(all_interposed[i])) ++i;
  if (i == kMostCallbacks) return function;
  if (i == interposed_count) {
    all_interposed[i].function = callback;
    all_interposed[i].kind = kind;
    ++interposed_count;
  }
  return reinterpret_cast<void*>(kStubs[i]);
}

#ifdef OPEN_MPI
// Open MPI's Fortran bindings make attribute functions, error handlers and data representations
// without a call of C. Each binding has several names: mpi_x_ and pmpi_x_, and ompi_x_f, which its
// module mpi_f08 calls. Arguments are addresses, but for the length of a name.
namespace {

template <class... Arguments>
void call_binding(const char* name, const char* other_name, Arguments... arguments) {
  void* binding = mpi_function(name);
  if (binding == nullptr) binding = mpi_function(other_name);  // of another MPI library
  reinterpret_cast<void (*)(Arguments...)>(binding)(arguments...);
}

}  // namespace

#define RUBATO_ALIAS(other, name) \
  __attribute__((visibility("default"), alias("ompi_" #name "_f"))) decltype(ompi_##name##_f) other;
#define RUBATO_NAMES(name)          \
  RUBATO_ALIAS(mpi_##name##_, name) \
  RUBATO_ALIAS(pmpi_##name##_, name)
#define RUBATO_KEYVAL(name)                                                                 \
  __attribute__((visibility("default"))) void ompi_##name##_f(                              \
      void* copy, void* remove, void* keyval, void* extra, void* error) {                   \
    call_binding("ompi_" #name "_f", "mpi_" #name "_",                                      \
                 interposed(copy, CallbackKind::kAttributeCopy),                            \
                 interposed(remove, CallbackKind::kAttributeDelete), keyval, extra, error); \
  }                                                                                         \
  RUBATO_NAMES(name)
#define RUBATO_HANDLER(name)                                                                 \
  __attribute__((visibility("default"))) void ompi_##name##_f(void* function, void* handler, \
                                                              void* error) {                 \
    call_binding("ompi_" #name "_f", "mpi_" #name "_",                                       \
                 interposed(function, CallbackKind::kErrorHandler), handler, error);         \
  }                                                                                          \
  RUBATO_NAMES(name)

extern "C" {

RUBATO_KEYVAL(comm_create_keyval)
RUBATO_KEYVAL(type_create_keyval)
RUBATO_KEYVAL(win_create_keyval)
RUBATO_KEYVAL(keyval_create)
RUBATO_HANDLER(comm_create_errhandler)
RUBATO_HANDLER(file_create_errhandler)
RUBATO_HANDLER(win_create_errhandler)
RUBATO_HANDLER(errhandler_create)

__attribute__((visibility("default"))) void ompi_register_datarep_f(void* name, void* read,
                                                                    void* write, void* extent,
                                                                    void* extra, void* error,
                                                                    long length) {
  constexpr auto kKind = CallbackKind::kDataRepresentation;
  call_binding("ompi_register_datarep_f", "mpi_register_datarep_", name, interposed(read, kKind),
               interposed(write, kKind), interposed(extent, kKind), extra, error, length);
}
RUBATO_NAMES(register_datarep)

}  // extern "C"
#endif

}  // namespace tracing
}  // namespace rubato
