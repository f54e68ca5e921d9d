#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tracer/stack/stack_walk.h"

namespace rubato {
inline namespace tracing {

struct ThreadLog;

/// The call paths of one thread: a tree, whose nodes are numbered from 1 in the order in which they
/// are met. A new node goes on record (kMarkPath) before the record that names it. The frames of
/// the tracer, of MPI's bindings, and of what calls main() or starts a thread are left out.
class CallPaths {
 public:
  /// Whether calls, or samples, get paths. Call it before the first call.
  static void record(bool of_calls) { (of_calls ? calls_ : others_) = true; }
  static bool of_calls() { return calls_; }
  static bool wanted() { return calls_ || others_; }

  /// The paths of the calling thread, which records into `log`; null: no memory. Not for signal
  /// handlers.
  static CallPaths* prepare(ThreadLog& log);

  /// The path to the code of the program that makes the call which is being entered; 0: not known.
  /// May move the log to a new segment.
  uint32_t of_call(ThreadLog& log);
  /// The path to the function that was interrupted. For signal handlers.
  uint32_t of_sample(ThreadLog& log, const WalkStart& at);

  /// Time of of_call() for known paths, on all threads, when recording has ended.
  struct Cost {
    double ticks = 0;
    uint64_t calls = 0;
  };
  static Cost cost();

 private:
  static constexpr uint32_t kMostNodes = 1 << 20;
  struct Node {
    uint64_t address;
    uint32_t parent;
    uint32_t number;  ///< 0: free
  };

  void use_own_stack();
  /// The node of this path, whose addresses come innermost first. `leaf`: a function in which the
  /// innermost frame was interrupted; 0: none.
  uint32_t node_of(ThreadLog& log, const uint64_t* frames, size_t count, uint64_t leaf);
  uint32_t child(ThreadLog& log, uint32_t parent, uint64_t address, bool is_function);
  bool grow();

  static inline bool calls_ = false;
  static inline bool others_ = false;
  StackWalk walk_;
  Node* table_ = nullptr;  ///< open addressing, at most half full
  unsigned bits_ = 0;
  uint32_t nodes_ = 0;
  bool in_handler_ = false;
  /// A path, outermost first.
  struct Recent {
    std::array<uint64_t, StackWalk::kMostFrames> addresses{};
    std::array<uint32_t, StackWalk::kMostFrames> nodes{};
    size_t count = 0;
  };
  static constexpr size_t kRecent = 8;
  std::array<Recent, kRecent> recent_{};  ///< by innermost address: the next one has the same begin
  uint64_t program_ = 0;                  ///< innermost address of the last call: the program's
  Cost cost_;
};

}  // namespace tracing
}  // namespace rubato
