#include "replay/matching/arrival_matcher.h"

#include <algorithm>

#include "replay/trace/operation.h"

namespace rubato {

bool Envelope::accepts(const Envelope& message) const {
  const bool any_of_these = any_tag && message.tag < kNeighbourTag;
  return (any_of_these || tag == message.tag) && (any_source || source == message.source);
}

std::vector<ArrivalMatcher::Pair> ArrivalMatcher::send(int destination, uint32_t comm,
                                                       TransferId id, const Envelope& envelope) {
  Queue& queue = queues_[{destination, comm}];
  std::list<Sent>& line = queue.from[envelope.source];
  line.push_back({id, envelope});
  waiting_[id] = std::prev(line.end());
  return settle(queue, line);
}

std::vector<ArrivalMatcher::Pair> ArrivalMatcher::arrive(int destination, uint32_t comm,
                                                         TransferId id, const Envelope& envelope) {
  Queue& queue = queues_[{destination, comm}];
  std::list<Sent>& line = queue.from[envelope.source];
  const auto arrived = waiting_.find(id);
  if (arrived == waiting_.end()) return {};
  arrived->second->came = ++came_;
  return settle(queue, line);
}

std::vector<ArrivalMatcher::Pair> ArrivalMatcher::post(int destination, uint32_t comm,
                                                       TransferId id, const Envelope& envelope) {
  Queue& queue = queues_[{destination, comm}];
  queue.posted.push_back({id, envelope});
  if (!envelope.any_source) return settle(queue, queue.from[envelope.source]);
  // Of each source only the first message that it accepts is a candidate.
  std::list<Sent>* from = nullptr;
  std::list<Sent>::iterator first;
  for (auto& [source, line] : queue.from) {
    const auto message = std::find_if(line.begin(), line.end(), [&](const Sent& each) {
      return envelope.accepts(each.envelope);
    });
    if (message == line.end()) continue;
    const auto receive = receive_of(queue, line, *message);
    if (receive == queue.posted.end() || receive->id != id) continue;
    if (from && first->came < message->came) continue;
    from = &line;
    first = message;
  }
  if (!from) return {};
  const Pair found{first->id, id};
  waiting_.erase(first->id);
  from->erase(first);
  queue.posted.pop_back();
  return {found};
}

std::list<ArrivalMatcher::Posted>::iterator ArrivalMatcher::receive_of(Queue& queue,
                                                                       const std::list<Sent>& line,
                                                                       const Sent& message) {
  const auto receive =
      std::find_if(queue.posted.begin(), queue.posted.end(),
                   [&](const Posted& posted) { return posted.envelope.accepts(message.envelope); });
  if (receive == queue.posted.end()) return receive;
  if (receive->envelope.any_source && message.came == 0) return queue.posted.end();
  for (const Sent& before : line) {
    if (&before == &message) break;
    if (receive->envelope.accepts(before.envelope)) return queue.posted.end();
  }
  return receive;
}

std::vector<ArrivalMatcher::Pair> ArrivalMatcher::settle(Queue& queue, std::list<Sent>& line) {
  std::vector<Pair> pairs;
  if (queue.posted.empty()) return pairs;
  for (auto message = line.begin(); message != line.end();) {
    const auto receive = receive_of(queue, line, *message);
    if (receive == queue.posted.end()) {
      ++message;
      continue;
    }
    pairs.push_back({message->id, receive->id});
    queue.posted.erase(receive);
    waiting_.erase(message->id);
    line.erase(message);
    message = line.begin();  // other messages may have waited behind it
  }
  return pairs;
}

}  // namespace rubato
