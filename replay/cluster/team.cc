#include "replay/cluster/team.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace rubato {

Team::Team(Transport& transport)
    : transport_(&transport),
      batches_(transport.processes()),
      progress_(leads() ? transport.processes() : 0, -1.0) {
  begin_pass();
}

void Team::begin_pass() {
  const auto processes = static_cast<size_t>(this->processes());
  mine_ = {};
  mine_.sent.assign(processes, 0);
  mine_.received.assign(processes, 0);
  reports_.assign(leads() ? processes : 0, {});
  others_.assign(processes, {});
  changed_ = true;
  stopped_ = false;
}

void Team::send(int to, Kind kind, Bytes bytes) {
  bytes.push_back(static_cast<std::byte>(kind));
  transport_->send(to, std::move(bytes));
}

void Team::send_batch(int to) {
  ByteWriter& batch = batches_[to];
  if (batch.size() == 0) return;
  ++batches_sent_;
  bytes_sent_ += batch.size();
  ++mine_.sent[to];
  changed_ = true;
  others_[to].idle = false;
  send(to, Kind::kBatch, batch.take());
}

void Team::send_last_batches() {
  for (int to = 0; to < processes(); ++to) {
    ByteWriter& batch = batches_[to];
    if (batch.size() == 0 && !others_[to].has_spoken) continue;
    others_[to].has_spoken = false;
    if (batch.size() > 0) {
      others_[to].idle = false;
      ++batches_sent_;
      bytes_sent_ += batch.size();
    }
    ++mine_.sent[to];
    changed_ = true;
    send(to, Kind::kLastBatch, batch.take());
  }
}

bool Team::next(Message& message) {
  // Messages that were put back came first.
  if (put_back_.empty()) return transport_->receive(message.from, message.bytes);
  message = std::move(put_back_.front());
  put_back_.pop_front();
  return true;
}

Team::Step Team::step(const Take& take) {
  Message message;
  if (!next(message)) return Step::kNothing;
  ByteReader reader = message.reader();
  switch (message.kind()) {
    case Kind::kBatch:
    case Kind::kLastBatch:
      ++mine_.received[message.from];
      changed_ = true;
      others_[message.from].idle = message.kind() == Kind::kLastBatch;
      // (An empty batch makes no timeline ready, and is not answered.)
      if (reader.empty()) return Step::kOther;
      others_[message.from].has_spoken = true;
      if (take && !stopped_) take(message.from, reader);
      return Step::kBatch;
    case Kind::kReport: {
      Report& report = reports_[message.from];
      report.known = true;
      report.finished = reader.number() != 0;
      report.failed = reader.number() != 0;
      for (auto* counts : {&report.sent, &report.received}) {
        counts->clear();
        for (int other = 0; other < processes(); ++other) counts->push_back(reader.number());
      }
      return Step::kOther;
    }
    case Kind::kStop:
      stopped_ = true;
      return Step::kOther;
    case Kind::kVerdict:
      verdict_ = static_cast<Verdict>(reader.number());
      return Step::kVerdict;
    case Kind::kProgress:
      reader.value(progress_[message.from]);
      return Step::kOther;
    default:
      throw std::logic_error("Team: processes are not in the same pass");
  }
}

Team::Verdict Team::look(const Take& take) {
  while (step(take) != Step::kNothing) {
  }
  for (int to = 0; to < processes(); ++to) {
    if (others_[to].idle) send_batch(to);
  }
  return stopped_ ? Verdict::kStopped : Verdict::kGoOn;
}

void Team::report(bool finished, bool failed) {
  if (!changed_ && mine_.finished == finished && mine_.failed == failed) return;
  changed_ = false;
  mine_.known = true;
  mine_.finished = finished;
  mine_.failed = failed;
  if (leads()) {
    reports_[0] = mine_;
    return;
  }
  ByteWriter writer;
  writer.number(finished ? 1 : 0);
  writer.number(failed ? 1 : 0);
  for (const auto* counts : {&mine_.sent, &mine_.received}) {
    for (const uint64_t count : *counts) writer.number(count);
  }
  send(0, Kind::kReport, writer.take());
}

void Team::notify_others(Kind kind, const Bytes& bytes) {
  for (int to = 1; to < processes(); ++to) send(to, kind, bytes);
}

bool Team::judge() {
  const bool failed = std::any_of(reports_.begin(), reports_.end(),
                                  [](const Report& report) { return report.failed; });
  if (failed && !stopped_) {
    stopped_ = true;
    notify_others(Kind::kStop, {});
  }
  for (int one = 0; one < processes(); ++one) {
    if (!reports_[one].known) return false;
    for (int other = 0; other < processes(); ++other) {
      if (!reports_[other].known || reports_[one].sent[other] != reports_[other].received[one])
        return false;
    }
  }
  // (Process 0 itself may still run.)
  if (stopped_ && !reports_[0].failed) return false;
  const bool finished = std::all_of(reports_.begin(), reports_.end(),
                                    [](const Report& report) { return report.finished; });
  verdict_ = stopped_ ? Verdict::kStopped : finished ? Verdict::kFinished : Verdict::kStalled;
  ByteWriter writer;
  writer.number(static_cast<uint64_t>(verdict_));
  notify_others(Kind::kVerdict, writer.take());
  return true;
}

Team::Verdict Team::rest(bool finished, const Take& take) {
  send_last_batches();
  bool came = false;
  int looks = 0;
  while (true) {
    const Step step = this->step(take);
    came = came || step == Step::kBatch;
    if (step == Step::kVerdict) return end_of_pass();
    if (stopped_) return Verdict::kStopped;
    if (step != Step::kNothing) continue;
    if (came) return Verdict::kGoOn;
    if (++looks <= kLooksBeforeReport) continue;
    report(finished, false);
    if (leads()) {
      if (judge()) return end_of_pass();
      if (stopped_) return Verdict::kStopped;
    }
    transport_->rest();
  }
}

void Team::fail() {
  if (leads() && !stopped_) notify_others(Kind::kStop, {});
  stopped_ = true;
  for (ByteWriter& batch : batches_) batch.take();
  while (true) {
    const Step step = this->step({});
    if (step == Step::kVerdict) break;
    if (step != Step::kNothing) continue;
    report(false, true);
    if (leads() && judge()) break;
    transport_->rest();
  }
  end_of_pass();
}

Team::Verdict Team::end_of_pass() {
  begin_pass();
  return verdict_;
}

Bytes Team::await(Kind kind, int from) {
  const auto is_it = [&](const Message& message) {
    return message.kind() == kind && message.from == from;
  };
  const auto found = std::find_if(put_back_.begin(), put_back_.end(), is_it);
  Message message;
  if (found != put_back_.end()) {
    message = std::move(*found);
    put_back_.erase(found);
  } else {
    while (true) {
      if (!transport_->receive(message.from, message.bytes)) {
        transport_->rest();
        continue;
      }
      if (is_it(message)) break;
      put_back_.push_back(std::move(message));
    }
  }
  message.bytes.pop_back();
  return std::move(message.bytes);
}

double Team::progress_of_all(double own) {
  if (leads()) {
    // A process without a report counts as having the progress of this one.
    progress_[0] = own;
    double sum = 0;
    for (const double share : progress_) sum += share < 0 ? own : share;
    return sum / processes();
  }
  const auto now = std::chrono::steady_clock::now();
  if (now - progress_reported_ < kBetweenProgress) return own;
  progress_reported_ = now;
  ByteWriter writer;
  writer.value(own);
  send(0, Kind::kProgress, writer.take());
  return own;
}

std::vector<Bytes> Team::gather(Bytes mine) {
  if (!leads()) {
    send(0, Kind::kGather, std::move(mine));
    return {};
  }
  std::vector<Bytes> all;
  all.push_back(std::move(mine));
  for (int from = 1; from < processes(); ++from) all.push_back(await(Kind::kGather, from));
  return all;
}

Bytes Team::share(Bytes of_first) {
  if (!leads()) return await(Kind::kShare, 0);
  notify_others(Kind::kShare, of_first);
  return of_first;
}

bool Team::all(bool fine) {
  const std::vector<Bytes> answers = gather({static_cast<std::byte>(fine)});
  const bool are = std::all_of(answers.begin(), answers.end(),
                               [](const Bytes& answer) { return answer[0] != std::byte{0}; });
  return share({static_cast<std::byte>(are)})[0] != std::byte{0};
}

}  // namespace rubato
