#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "replay/trace/trace.h"

namespace rubato {

/// A line of a text trace that is a call, or another record.
struct TextLine {
  int number;
  int rank;
  int thread;
  std::vector<std::string> words;  ///< behind the rank
};

/// What a text trace (text_source.h) defines, and its other lines. Errors: InputError with `origin`
/// and the line.
struct TextDefinitions {
  TextDefinitions(const std::string& text, std::string origin);

  [[noreturn]] void fail(const TextLine& line, const std::string& why) const;
  /// A finite number, small enough that each whole one of its size has a place of its own.
  double number(const TextLine& line, const std::string& word) const;
  /// A whole number from `least` on that an int holds.
  int whole_number(const TextLine& line, const std::string& word, int least = 0) const;
  /// The value behind a keyword, taken out of the words; `otherwise` when it is not there.
  double option(TextLine& line, const std::string& keyword, double otherwise) const;
  /// The whole number behind one, likewise.
  int whole_option(TextLine& line, const std::string& keyword, int otherwise, int least = 0) const;
  /// The rank that a word is, one that there is.
  int32_t rank_named(const TextLine& line, size_t word) const;
  /// A rank, a thread or a node.
  int count_from_0(const TextLine& line, const std::string& word) const;
  /// Index of the communicator that the trace gives this number.
  uint32_t comm_of(const TextLine& line, int number) const;

  TraceDefinitions trace;
  std::vector<TextLine> lines;
  std::map<int, uint32_t> comms;    ///< index, by the number that the trace gives
  std::map<int, uint32_t> windows;  ///< index into comms, by number

 private:
  /// The word behind a keyword, both taken out of the words; nothing when it is not there.
  std::optional<std::string> take_option(TextLine& line, const std::string& keyword) const;
  void read_lines(const std::string& text);
  void define(int ranks, std::vector<int> nodes, std::vector<int> sockets,
              const std::vector<TextLine>& definitions, const std::map<int, int>& threads);
  void define_communicator(const TextLine& line);
  void define_window(TextLine line);
  void define_neighbours(const TextLine& line, NeighbourTable::ByRank& all);
  void check_threads() const;
  void check(int rank) const;

  std::string origin_;
};

}  // namespace rubato
