#include <fmt/format.h>

#include "tools/format/csv_text.h"
#include "tools/tables/profile_report.h"
#include "tools/tables/profile_tables.h"

namespace rubato {
namespace {

using Cells = std::vector<std::string>;

/// A cell holds no tabs and no line ends.
std::string line_of(const Cells& cells) {
  std::string line;
  for (const std::string& cell : cells) {
    if (!line.empty() || &cell != cells.data()) line += '\t';
    for (const char c : no_formula(cell)) line += c == '\t' || c == '\n' || c == '\r' ? ' ' : c;
  }
  return line + '\n';
}

std::string show(Quantity quantity, double value) {
  return quantity == Quantity::kSeconds ? fmt::format("{}", value) : fmt::format("{:.0f}", value);
}

std::string title_of(const ScenarioProfile& profile, const std::string& words) {
  return line_of({fmt::format("{}: {}", profile.result->name, words)});
}

void write_sizes(const ScenarioProfile& profile, const TextSink& write) {
  write(title_of(profile, "requests by size, from so many bytes to less than twice as many"));
  write(line_of({"Rank", "Call", "Size", "Sends", "Bytes sent", "Receives", "Bytes received"}));
  for (size_t rank = 0; rank < profile.ranks.size(); ++rank) {
    for (size_t call = 0; call < profile.calls->size(); ++call) {
      const CallTraffic& traffic = profile.ranks[rank].calls[call].traffic;
      const SizeHistogram &sent = traffic.sent, &received = traffic.received;
      for (size_t at = 0; at < std::max(sent.size(), received.size()); ++at) {
        const Requests out = sent[at], in = received[at];
        if (out.count + in.count == 0) continue;
        write(line_of({std::to_string(rank), (*profile.calls)[call],
                       std::to_string(SizeHistogram::least(at)), std::to_string(out.count),
                       std::to_string(out.bytes), std::to_string(in.count),
                       std::to_string(in.bytes)}));
      }
    }
  }
}

}  // namespace

void profile_tsv(const ScenarioProfile& profile, const TextSink& write) {
  std::vector<RankTable> tables = rank_tables(profile, call_groups(profile, true));
  if (profile.result->has_waits) tables.insert(tables.begin() + 1, split_time_table(profile));
  for (const RankTable& table : tables) {
    write(title_of(profile,
                   table.quantity == Quantity::kSeconds ? table.title + " (s)" : table.title));
    Cells header = {"Rank"};
    for (const NumberColumn& column : table.columns) header.push_back(column.name);
    write(line_of(header));
    for (size_t rank = 0; rank < profile.ranks.size(); ++rank) {
      Cells cells = {std::to_string(rank)};
      for (const NumberColumn& column : table.columns)
        cells.push_back(show(table.quantity, column.values[rank]));
      write(line_of(cells));
    }
    write("\n");
  }
  write(title_of(profile, "matrices, of pairs that talk"));
  write(line_of({"Rank", "Peer", "SIZE", "REQUEST", "TIME (s)"}));
  for (size_t rank = 0; rank < profile.ranks.size(); ++rank) {
    for (const PeerTraffic& entry : profile.ranks[rank].peers) {
      write(line_of({std::to_string(rank), std::to_string(entry.peer),
                     std::to_string(entry.sent.bytes), std::to_string(entry.sent.count),
                     fmt::format("{}", entry.time)}));
    }
  }
  write("\n");
  write(title_of(profile, "traffic between nodes"));
  write(line_of({"Node", "Ranks", "Bytes received", "Receives", "Bytes sent", "Sends"}));
  for (const NodeTraffic& node : profile.nodes) {
    write(line_of({node.name, std::to_string(node.ranks), std::to_string(node.received.bytes),
                   std::to_string(node.received.count), std::to_string(node.sent.bytes),
                   std::to_string(node.sent.count)}));
  }
  write("\n");
  write_sizes(profile, write);
  write("\n");
}

}  // namespace rubato
