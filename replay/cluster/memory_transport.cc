#include "replay/cluster/memory_transport.h"

#include <chrono>

#include "replay/cluster/one_process.h"
#include "replay/cluster/processors.h"

namespace rubato {
namespace {

/// A waiting thread polls for this long before it sleeps: messages mostly arrive within
/// microseconds, and waking up takes tens of them. It does not poll if there are fewer processors
/// than threads.
constexpr std::chrono::microseconds kAwake(50);

}  // namespace

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
      mailbox.has_any = true;
    }
    mailbox.filled.notify_one();
  }

  bool receive(int& from, Bytes& message) override {
    Mailbox& mailbox = network_->mailboxes_[self_];
    if (!mailbox.has_any) return false;
    if (network_->abandoned_) throw NeedsOneProcess{OneProcess::kFailed};
    const std::lock_guard lock(mailbox.mutex);
    from = mailbox.messages.front().first;
    message = std::move(mailbox.messages.front().second);
    mailbox.messages.pop_front();
    mailbox.has_any = !mailbox.messages.empty() || network_->abandoned_;
    return true;
  }

  void rest() override {
    Mailbox& mailbox = network_->mailboxes_[self_];
    if (network_->looks_awake_) {
      const auto end = std::chrono::steady_clock::now() + kAwake;
      while (!mailbox.has_any && std::chrono::steady_clock::now() < end) {
      }
    }
    std::unique_lock lock(mailbox.mutex);
    mailbox.filled.wait(lock, [&] { return mailbox.has_any.load(); });
  }

  FixedList<std::byte> once_per_host(const std::function<Bytes()>& make) override {
    const size_t number = asked_++;
    if (self_ == 0) {
      FixedList<std::byte> made = make();
      const std::lock_guard lock(network_->mutex_);
      network_->made_.push_back(std::move(made));
      network_->made_more_.notify_all();
    }
    std::unique_lock lock(network_->mutex_);
    network_->made_more_.wait(
        lock, [&] { return network_->made_.size() > number || network_->abandoned_; });
    if (network_->abandoned_) throw NeedsOneProcess{OneProcess::kFailed};
    return network_->made_[number];
  }

  void close() override {}

 private:
  MemoryNetwork* network_;
  int self_;
  size_t asked_ = 0;  ///< number of once_per_host() calls
};

MemoryNetwork::MemoryNetwork(int processes)
    : mailboxes_(processes), looks_awake_(processes <= available_processors()) {}

std::unique_ptr<Transport> MemoryNetwork::transport(int self) {
  return std::make_unique<End>(*this, self);
}

void MemoryNetwork::abandon() {
  abandoned_ = true;
  {
    const std::lock_guard lock(mutex_);  // no thread is between its check and its wait
  }
  made_more_.notify_all();
  for (Mailbox& mailbox : mailboxes_) {
    {
      const std::lock_guard lock(mailbox.mutex);
      mailbox.has_any = true;
    }
    mailbox.filled.notify_all();
  }
}

}  // namespace rubato
