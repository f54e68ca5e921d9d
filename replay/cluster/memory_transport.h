#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "replay/cluster/transport.h"

namespace rubato {

/// Threads of one process that take the part of processes.
class MemoryNetwork {
 public:
  explicit MemoryNetwork(int processes) : mailboxes_(processes) {}

  /// The transport of one of them; it must not outlive the network.
  std::unique_ptr<Transport> transport(int self);

 private:
  class End;
  struct Mailbox {
    std::mutex mutex;
    std::condition_variable filled;
    std::deque<std::pair<int, Bytes>> messages;
  };

  std::vector<Mailbox> mailboxes_;
};

}  // namespace rubato
