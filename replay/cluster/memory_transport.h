#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "replay/cluster/transport.h"

namespace rubato {

/// Threads of one process in the role of processes.
class MemoryNetwork {
 public:
  explicit MemoryNetwork(int processes);

  /// The transport of one thread; it must not outlive the network.
  std::unique_ptr<Transport> transport(int self);
  /// A thread has ended early, by an error: waiting threads throw NeedsOneProcess.
  void abandon();

 private:
  class End;
  struct Mailbox {
    std::mutex mutex;
    std::condition_variable filled;
    std::deque<std::pair<int, Bytes>> messages;
    std::atomic<bool> has_any = false;  ///< messages, or a thread has ended early
  };

  std::vector<Mailbox> mailboxes_;
  std::mutex mutex_;
  std::condition_variable made_more_;
  std::vector<FixedList<std::byte>> made_;  ///< results of once_per_host(), in call order
  std::atomic<bool> abandoned_ = false;
  bool looks_awake_;
};

}  // namespace rubato
