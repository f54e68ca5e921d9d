#include "replay/rules/collective_flows.h"

#include <algorithm>
#include <limits>

namespace rubato {
namespace {

constexpr double kRounding = 1e-3;  ///< ticks: less than that is no delay
constexpr double kUnderWay = -1;

}  // namespace

CollectivePlan::CollectivePlan(std::vector<ScheduledMessage> schedule, int size,
                               const RoundCost& cost, const std::function<double(double)>& growing,
                               double total)
    : messages(std::move(schedule)),
      times(schedule_times(messages, size, cost)),
      incoming(size),
      outgoing(size) {
  double end = 0;
  for (const MessageTimes& time : times) end = std::max(end, time.arrival);
  const double stretch = end > 0 ? total / end : 0;
  for (uint32_t i = 0; i < messages.size(); ++i) {
    times[i].start *= stretch;
    times[i].arrival *= stretch;
    data.push_back(
        std::min(growing(messages[i].bytes) * stretch, times[i].arrival - times[i].start));
    incoming[messages[i].to].push_back(i);
    outgoing[messages[i].from].push_back(i);
  }
}

CollectiveFlows::CollectiveFlows(std::shared_ptr<const CollectivePlan> plan, double begin,
                                 uint32_t comm, uint64_t instance)
    : plan_(std::move(plan)),
      begin_(begin),
      comm_(comm),
      instance_(instance),
      members_(plan_->incoming.size()),
      lateness_(plan_->messages.size(), kUnderWay),
      left_(plan_->messages.size()) {}

std::vector<CollectiveFlows::Start> CollectiveFlows::begin() {
  std::vector<Start> starts;
  for (int member = 0; member < static_cast<int>(members_.size()); ++member)
    release(member, starts);
  return starts;
}

std::vector<CollectiveFlows::Start> CollectiveFlows::arrive(uint32_t message, double now) {
  const double late = now - (begin_ + plan_->times[message].arrival);
  lateness_[message] = late > kRounding ? late : 0;
  late_ = std::max(late_, lateness_[message]);
  --left_;
  const int to = plan_->messages[message].to;
  Member& member = members_[to];
  const std::vector<uint32_t>& incoming = plan_->incoming[to];
  while (member.here < incoming.size() && lateness_[incoming[member.here]] >= 0)
    member.late = std::max(member.late, lateness_[incoming[member.here++]]);
  std::vector<Start> starts;
  release(to, starts);
  return starts;
}

double CollectiveFlows::alone(uint32_t message, double start) const {
  const MessageTimes& time = plan_->times[message];
  // Not start + length, which may round otherwise.
  if (start == begin_ + time.start) return begin_ + time.arrival;
  return start + (time.arrival - time.start);
}

void CollectiveFlows::release(int number, std::vector<Start>& starts) {
  Member& member = members_[number];
  const std::vector<uint32_t>& incoming = plan_->incoming[number];
  const std::vector<uint32_t>& outgoing = plan_->outgoing[number];
  const int awaited = member.here < incoming.size() ? plan_->messages[incoming[member.here]].step
                                                    : std::numeric_limits<int>::max();
  for (; member.sent < outgoing.size(); ++member.sent) {
    const uint32_t message = outgoing[member.sent];
    if (plan_->messages[message].step > awaited) return;
    starts.emplace_back(message, begin_ + plan_->times[message].start + member.late);
  }
}

}  // namespace rubato
