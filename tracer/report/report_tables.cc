#include "tracer/report/report_tables.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

namespace rubato {
inline namespace tracing {
namespace {

/// Grows a table by lines of cells.
class Lines {
 public:
  Lines(const std::string& comment, const std::vector<std::string>& header)
      : text_("# " + comment + "\n") {
    for (const std::string& cell : header) *this << cell;
    end();
  }
  Lines& operator<<(const std::string& cell) {
    if (!text_.empty() && text_.back() != '\n') text_ += '\t';
    for (const char c : cell) text_ += c == '\t' || c == '\n' ? ' ' : c;
    return *this;
  }
  Lines& operator<<(const char* cell) { return *this << std::string(cell); }
  Lines& operator<<(double value) { return *this << exact(value); }
  Lines& operator<<(uint64_t value) { return *this << std::to_string(value); }
  Lines& operator<<(int value) { return *this << std::to_string(value); }
  void end() { text_ += '\n'; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string rank_lines(const RankTable& table, size_t ranks) {
  std::vector<std::string> header = {"rank"};
  for (const RankColumn& column : table.columns) header.push_back(column.name);
  Lines lines(table.title + " by rank and function" + (table.seconds ? "; seconds" : ""), header);
  for (size_t rank = 0; rank < ranks; ++rank) {
    lines << static_cast<int>(rank);
    for (const RankColumn& column : table.columns) lines << column.values[rank];
    lines.end();
  }
  return lines.text();
}

std::string call_lines(const JobReport& job) {
  Lines lines(
      "calls by rank and function; seconds with a core, bytes; least, most: of calls that had a "
      "core all the time; outside: before MPI_Init was left and after MPI_Finalize was entered",
      {"rank", "function", "calls", "time", "outside", "least", "mean", "most", "bytes_completed"});
  for (size_t rank = 0; rank < job.ranks.size(); ++rank) {
    for (const CallRow& row : by_name(job.ranks[rank].calls)) {
      const double mean = row.timed > 0 ? row.time / static_cast<double>(row.timed) : 0;
      lines << static_cast<int>(rank) << job.call_names[row.call] << row.calls << row.time
            << row.outside << row.least << mean << row.most << row.bytes_completed;
      lines.end();
    }
  }
  return lines.text();
}

std::string size_lines(const JobReport& job) {
  Lines lines(
      "sends and receives by rank, function and size; from: least bytes of the size class, "
      "which ends below twice that",
      {"rank", "function", "direction", "from", "count", "bytes"});
  for (size_t rank = 0; rank < job.ranks.size(); ++rank) {
    for (const CallRow& row : by_name(job.ranks[rank].calls)) {
      for (const SizeRow& size : row.sizes) {
        if (size.count == 0) continue;
        lines << static_cast<int>(rank) << job.call_names[row.call]
              << (size.sends ? "send" : "receive")
              << (size.size_class == 0 ? 0 : uint64_t{1} << (size.size_class - 1)) << size.count
              << size.bytes;
        lines.end();
      }
    }
  }
  return lines.text();
}

std::string matrix_lines(const JobReport& job) {
  Lines lines(
      "messages and one-sided transfers; bytes, messages: from rank to peer; time: seconds "
      "of rank in calls that received from peer, those of several divided evenly",
      {"rank", "peer", "bytes", "messages", "time"});
  for (size_t rank = 0; rank < job.ranks.size(); ++rank) {
    for (const PairRow& pair : job.ranks[rank].pairs) {
      if (pair.sent == 0 && pair.time == 0) continue;
      lines << static_cast<int>(rank) << pair.peer << pair.sent_bytes << pair.sent << pair.time;
      lines.end();
    }
  }
  return lines.text();
}

std::string wait_lines(const JobReport& job) {
  const std::string basis =
      job.stride == 1 ? "all messages and collectives"
                      : "1 of " + std::to_string(job.stride) + " messages and collectives";
  Lines lines("waits by rank and function; seconds, part of time; from time stamps of " + basis,
              {"rank", "function", "time", "late_sender", "late_receiver", "collective"});
  for (size_t rank = 0; rank < job.ranks.size(); ++rank) {
    for (const CallRow& row : by_name(job.ranks[rank].calls)) {
      if (!(row.numbered > 0)) continue;
      lines << static_cast<int>(rank) << job.call_names[row.call] << row.time
            << row.waits.late_sender << row.waits.late_receiver << row.waits.collective;
      lines.end();
    }
  }
  return lines.text();
}

std::string site_lines(const JobReport& job) {
  Lines lines(
      "calls by call site, of all ranks; seconds, bytes; fastest_rank, slowest_rank: "
      "seconds of one rank; waits are part of time",
      {"function", "call_site", "ranks", "calls", "time", "fastest_rank", "slowest_rank", "least",
       "mean", "most", "sends", "bytes_sent", "receives", "bytes_received", "late_sender",
       "late_receiver", "collective"});
  for (const SiteRow& site : job_sites(job)) {
    const CallRow& row = site.sum;
    const Traffic sent = traffic_of(row, true), received = traffic_of(row, false);
    lines << job.call_names[row.call] << row.site << site.ranks << row.calls << row.time
          << site.fastest_rank << site.slowest_rank << row.least
          << (row.timed > 0 ? row.time / static_cast<double>(row.timed) : 0) << row.most
          << sent.count << sent.bytes << received.count << received.bytes;
    for (const double wait :
         {row.waits.late_sender, row.waits.late_receiver, row.waits.collective}) {
      if (job.waits_known)
        lines << wait;
      else
        lines << "unknown";
    }
    lines.end();
  }
  return lines.text();
}

/// Adds a column unless it is zero.
void add_column(RankTable& table, const std::string& name, std::vector<double> values) {
  const bool any =
      std::any_of(values.begin(), values.end(), [](double value) { return value != 0; });
  if (any) table.columns.push_back({name, std::move(values)});
}

}  // namespace

std::string exact(double value) {
  if (value >= 0 && value < 0x1p53 && value == std::floor(value))
    return std::to_string(static_cast<uint64_t>(value));
  char text[64];
  const auto result = std::to_chars(text, text + sizeof text, value);
  return {text, result.ptr};
}

std::vector<RankTable> rank_tables(const JobReport& job) {
  std::vector<RankTable> tables = {{"time.tsv", "time", true, {}},
                                   {"bytes_sent.tsv", "bytes sent", false, {}},
                                   {"sends.tsv", "sends", false, {}},
                                   {"bytes_received.tsv", "bytes received", false, {}},
                                   {"receives.tsv", "receives", false, {}}};
  const size_t ranks = job.ranks.size();
  std::map<unsigned, std::vector<std::vector<double>>> columns;  // by CallId and table
  for (size_t rank = 0; rank < ranks; ++rank) {
    for (const CallRow& row : by_name(job.ranks[rank].calls)) {
      auto& of_call = columns[row.call];
      of_call.resize(tables.size(), std::vector<double>(ranks));
      const Traffic sent = traffic_of(row, true), received = traffic_of(row, false);
      of_call[0][rank] = row.time;
      of_call[1][rank] = static_cast<double>(sent.bytes);
      of_call[2][rank] = static_cast<double>(sent.count);
      of_call[3][rank] = static_cast<double>(received.bytes);
      of_call[4][rank] = static_cast<double>(received.count);
    }
  }
  const auto of_ranks = [&](double RankReport::*value) {
    std::vector<double> values;
    for (const RankReport& rank : job.ranks) values.push_back(rank.*value);
    return values;
  };
  tables[0].columns.push_back({"compute", of_ranks(&RankReport::compute)});
  for (auto& [call, of_call] : columns) {
    // Bytes have a column where there are messages, be they of 0 bytes.
    static constexpr size_t kCounts[] = {0, 2, 2, 4, 4};
    bool any[5];
    for (size_t i = 0; i < tables.size(); ++i)
      any[i] = std::any_of(of_call[kCounts[i]].begin(), of_call[kCounts[i]].end(),
                           [](double value) { return value != 0; });
    for (size_t i = 0; i < tables.size(); ++i) {
      if (any[i]) tables[i].columns.push_back({job.call_names[call], std::move(of_call[i])});
    }
  }
  add_column(tables[0], "tracer", of_ranks(&RankReport::tracer));
  add_column(tables[0], "not_recorded", of_ranks(&RankReport::not_recorded));
  add_column(tables[0], "lost_core", of_ranks(&RankReport::lost_core));
  return tables;
}

std::vector<CallRow> job_calls(const JobReport& job) {
  std::map<unsigned, CallRow> sums;
  for (const RankReport& rank : job.ranks) {
    for (const CallRow& row : rank.calls) {
      CallRow& sum = sums[row.call];
      sum.call = row.call;
      add(sum, row);
    }
  }
  std::vector<CallRow> list;
  for (const auto& [call, sum] : sums) list.push_back(sum);
  std::stable_sort(list.begin(), list.end(),
                   [](const CallRow& a, const CallRow& b) { return a.time > b.time; });
  return list;
}

std::vector<SiteRow> job_sites(const JobReport& job) {
  std::map<std::pair<std::string, unsigned>, SiteRow> sites;
  for (const RankReport& rank : job.ranks) {
    // A rank has several addresses of a line.
    std::map<std::pair<std::string, unsigned>, double> times;
    for (const CallRow& row : rank.calls) {
      const std::pair key(row.site, row.call);
      times[key] += row.time;
      CallRow& sum = sites[key].sum;
      sum.call = row.call;
      sum.site = row.site;
      add(sum, row);
    }
    for (const auto& [key, time] : times) {
      SiteRow& site = sites[key];
      site.fastest_rank = site.ranks == 0 ? time : std::min(site.fastest_rank, time);
      site.slowest_rank = std::max(site.slowest_rank, time);
      ++site.ranks;
    }
  }
  std::vector<SiteRow> list;
  for (auto& [key, site] : sites) list.push_back(std::move(site));
  std::stable_sort(list.begin(), list.end(),
                   [](const SiteRow& a, const SiteRow& b) { return a.sum.time > b.sum.time; });
  return list;
}

bool write_tables(
    const JobReport& job,
    const std::function<bool(const std::string& name, const std::string& text)>& write) {
  for (const RankTable& table : rank_tables(job)) {
    if (!write(table.file, rank_lines(table, job.ranks.size()))) return false;
  }
  return write("calls.tsv", call_lines(job)) && write("sizes.tsv", size_lines(job)) &&
         write("matrix.tsv", matrix_lines(job)) &&
         (!job.waits_known || write("waits.tsv", wait_lines(job))) &&
         (!job.call_sites || write("call_sites.tsv", site_lines(job)));
}

}  // namespace tracing
}  // namespace rubato
