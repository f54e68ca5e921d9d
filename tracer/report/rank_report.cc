#include "tracer/report/rank_report.h"

#include <algorithm>
#include <map>

#include "tracer/base/packing.h"

namespace rubato {
inline namespace tracing {

std::string RankReport::pack() const {
  Packer packer;
  packer.put(threads);
  for (const double value : {start, end, starts, ends, compute, tracer, lost_core, not_recorded})
    packer.put(value);
  for (const uint64_t value :
       {uint64_t{stopped}, uint64_t{waits_known}, stride, pairs_left_out, messages_left_out,
        left_out.messages, left_out.requests, left_out.sizes}) {
    packer.put(value);
  }
  packer.put(calls.size());
  for (const CallRow& row : calls) {
    packer.put(row.call);
    packer.put(row.site);
    packer.put(row.calls);
    packer.put(row.timed);
    for (const double value : {row.time, row.outside, row.least, row.most, row.numbered})
      packer.put(value);
    packer.put(row.bytes_completed);
    packer.put(row.sizes.size());
    for (const SizeRow& size : row.sizes) {
      packer.put(size.size_class << 1 | (size.sends ? 1u : 0u));
      packer.put(size.count);
      packer.put(size.bytes);
    }
  }
  packer.put(pairs.size());
  for (const PairRow& pair : pairs) {
    packer.put(pair.peer);
    for (const uint64_t value : {pair.sent, pair.sent_bytes, pair.fetched, pair.fetched_bytes})
      packer.put(value);
    packer.put(pair.time);
  }
  packer.put(samples.size());
  for (const Sample& sample : samples) {
    for (const uint64_t value :
         {sample.key, sample.enter, sample.leave, sample.posted, sample.stolen})
      packer.put(value);
    packer.put(uint64_t{sample.call} << 8 | static_cast<uint64_t>(sample.role));
  }
  packer.put(host);
  packer.put(steps);
  return packer.bytes();
}

RankReport RankReport::unpack(const std::string& bytes) {
  Unpacker from(bytes);
  RankReport report;
  report.threads = from.value();
  for (double* value : {&report.start, &report.end, &report.starts, &report.ends, &report.compute,
                        &report.tracer, &report.lost_core, &report.not_recorded}) {
    *value = from.number();
  }
  report.stopped = from.value() != 0;
  report.waits_known = from.value() != 0;
  for (uint64_t* value :
       {&report.stride, &report.pairs_left_out, &report.messages_left_out,
        &report.left_out.messages, &report.left_out.requests, &report.left_out.sizes}) {
    *value = from.value();
  }
  for (uint64_t count = from.value(); count > 0 && !from.done(); --count) {
    CallRow row;
    row.call = static_cast<unsigned>(from.value());
    row.site = from.text();
    row.calls = from.value();
    row.timed = from.value();
    for (double* value : {&row.time, &row.outside, &row.least, &row.most, &row.numbered})
      *value = from.number();
    row.bytes_completed = from.value();
    for (uint64_t sizes = from.value(); sizes > 0 && !from.done(); --sizes) {
      const uint64_t what = from.value();
      const uint64_t number = from.value();
      row.sizes.push_back(
          {(what & 1) != 0, static_cast<unsigned>(what >> 1), number, from.value()});
    }
    report.calls.push_back(std::move(row));
  }
  for (uint64_t count = from.value(); count > 0 && !from.done(); --count) {
    PairRow pair;
    pair.peer = static_cast<int>(from.value());
    for (uint64_t* value : {&pair.sent, &pair.sent_bytes, &pair.fetched, &pair.fetched_bytes})
      *value = from.value();
    pair.time = from.number();
    report.pairs.push_back(pair);
  }
  for (uint64_t count = from.value(); count > 0 && !from.done(); --count) {
    Sample sample{};
    for (uint64_t* value :
         {&sample.key, &sample.enter, &sample.leave, &sample.posted, &sample.stolen})
      *value = from.value();
    const uint64_t what = from.value();
    sample.call = static_cast<uint32_t>(what >> 8);
    sample.role = static_cast<SampleRole>(what & 0xff);
    report.samples.push_back(sample);
  }
  report.host = from.text();
  report.steps = from.text();
  return report;
}

namespace {

/// Adds the calls of another address.
void add(CallRow& sum, const CallRow& row) {
  if (row.most > 0) sum.least = sum.most > 0 ? std::min(sum.least, row.least) : row.least;
  sum.most = std::max(sum.most, row.most);
  sum.calls += row.calls;
  sum.timed += row.timed;
  sum.time += row.time;
  sum.outside += row.outside;
  sum.numbered += row.numbered;
  sum.bytes_completed += row.bytes_completed;
  sum.waits.late_sender += row.waits.late_sender;
  sum.waits.late_receiver += row.waits.late_receiver;
  sum.waits.collective += row.waits.collective;
  for (const SizeRow& size : row.sizes) {
    const auto order = [](const SizeRow& each) { return std::pair(!each.sends, each.size_class); };
    const auto same =
        std::lower_bound(sum.sizes.begin(), sum.sizes.end(), size,
                         [&](const SizeRow& a, const SizeRow& b) { return order(a) < order(b); });
    if (same == sum.sizes.end() || order(*same) != order(size)) {
      sum.sizes.insert(same, size);
    } else {
      same->count += size.count;
      same->bytes += size.bytes;
    }
  }
}

void find_waits_of(JobReport& job) {
  std::vector<RankSamples> samples(job.ranks.size());
  for (size_t i = 0; i < samples.size(); ++i) samples[i].samples.swap(job.ranks[i].samples);
  const auto found = find_waits(samples);
  for (size_t rank = 0; rank < found.size(); ++rank) {
    std::vector<CallRow>& rows = job.ranks[rank].calls;
    for (size_t i = 0; i < found[rank].size() && i < rows.size(); ++i) {
      const SampledWaits& seen = found[rank][i];
      if (!(seen.observed > 0)) continue;
      // With all messages in the sample the sums are the waits; else they are a share of its calls.
      const double scale =
          job.stride == 1 ? 1e-9 : std::max(1e-9, rows[i].numbered / seen.observed);
      rows[i].waits = {seen.late_sender * scale, seen.late_receiver * scale,
                       seen.collective * scale, seen.observed * 1e-9};
    }
  }
}

/// One row for each call and call site, in the order of CallId.
std::vector<CallRow> merged(const std::vector<CallRow>& rows) {
  std::map<std::pair<unsigned, std::string>, CallRow> sums;
  for (const CallRow& row : rows) {
    CallRow& sum = sums[{row.call, row.site}];
    sum.call = row.call;
    sum.site = row.site;
    add(sum, row);
  }
  std::vector<CallRow> list;
  for (auto& [key, sum] : sums) list.push_back(std::move(sum));
  return list;
}

}  // namespace

void complete(JobReport& job) {
  bool any = false;
  for (const RankReport& rank : job.ranks) {
    job.waits_known = job.waits_known && rank.waits_known;
    job.stride = std::max(job.stride, rank.stride);
    if (rank.threads == 0) continue;
    job.begin = any ? std::min(job.begin, rank.start) : rank.start;
    job.end = any ? std::max(job.end, rank.end) : rank.end;
    any = true;
  }
  std::map<std::string, uint64_t> nodes;
  for (size_t rank = 0; rank < job.ranks.size(); ++rank)
    job.ranks[rank].node = nodes.emplace(job.ranks[rank].host, rank).first->second;
  if (job.waits_known) find_waits_of(job);
  for (RankReport& rank : job.ranks) rank.calls = merged(rank.calls);
  std::vector<std::map<int, PairRow>> pairs(job.ranks.size());
  for (size_t rank = 0; rank < job.ranks.size(); ++rank) {
    for (const PairRow& pair : job.ranks[rank].pairs) {
      PairRow& own = pairs[rank][pair.peer];
      own.sent += pair.sent;
      own.sent_bytes += pair.sent_bytes;
      own.time += pair.time;
      if (pair.fetched == 0 || static_cast<size_t>(pair.peer) >= pairs.size()) continue;
      PairRow& owner = pairs[static_cast<size_t>(pair.peer)][static_cast<int>(rank)];
      owner.sent += pair.fetched;
      owner.sent_bytes += pair.fetched_bytes;
    }
  }
  for (size_t rank = 0; rank < job.ranks.size(); ++rank) {
    job.ranks[rank].pairs.clear();
    for (auto& [peer, pair] : pairs[rank]) {
      pair.peer = peer;
      job.ranks[rank].pairs.push_back(pair);
    }
  }
}

}  // namespace tracing
}  // namespace rubato
