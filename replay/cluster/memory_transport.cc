#include "replay/cluster/memory_transport.h"

#include <chrono>

namespace rubato {

class MemoryNetwork::End : public Transport {
 public:
  End(MemoryNetwork& network, int self) : network_(&network), self_(self) {}

  int processes() const override { return static_cast<int>(network_->mailboxes_.size()); }
  int self() const override { return self_; }
  int on_this_host() const override { return processes(); }

  void send(int to, Bytes message) override {
    Mailbox& mailbox = network_->mailboxes_[to];
    {
      const std::lock_guard lock(mailbox.mutex);
      mailbox.messages.emplace_back(self_, std::move(message));
    }
    mailbox.filled.notify_one();
  }

  bool receive(int& from, Bytes& message) override {
    Mailbox& mailbox = network_->mailboxes_[self_];
    const std::lock_guard lock(mailbox.mutex);
    if (mailbox.messages.empty()) return false;
    from = mailbox.messages.front().first;
    message = std::move(mailbox.messages.front().second);
    mailbox.messages.pop_front();
    return true;
  }

  void rest() override {
    Mailbox& mailbox = network_->mailboxes_[self_];
    std::unique_lock lock(mailbox.mutex);
    mailbox.filled.wait(lock, [&] { return !mailbox.messages.empty(); });
  }

  void close() override {}

 private:
  MemoryNetwork* network_;
  int self_;
};

std::unique_ptr<Transport> MemoryNetwork::transport(int self) {
  return std::make_unique<End>(*this, self);
}

}  // namespace rubato
