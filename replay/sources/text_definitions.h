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
  std::vector<std::string> words;  ///< after the rank
};

/// The definitions of a text trace (text_source.h), and its other lines. Errors: InputError with
/// `origin` and the line.
struct TextDefinitions {
  TextDefinitions(const std::string& text, std::string origin);

  [[noreturn]] void fail(const TextLine& line, const std::string& why) const;
  /// A finite number, small enough for exact integers.
  double number(const TextLine& line, const std::string& word) const;
  /// An integer that is at least `least` and fits into an int.
  int whole_number(const TextLine& line, const std::string& word, int least = 0) const;
  /// The value after a keyword; removes both from the words. `otherwise` if there is no such
  /// keyword.
  double option(TextLine& line, const std::string& keyword, double otherwise) const;
  /// The same for an integer.
  int whole_option(TextLine& line, const std::string& keyword, int otherwise, int least = 0) const;
  /// The existing rank given by a word.
  int32_t rank_named(const TextLine& line, size_t word) const;
  /// The number of a rank, a thread or a node.
  int count_from_0(const TextLine& line, const std::string& word) const;
  /// Index of the communicator with this number in the trace.
  uint32_t comm_of(const TextLine& line, int number) const;

  TraceDefinitions trace;
  std::vector<TextLine> lines;
  std::map<int, uint32_t> comms;    ///< index, by number in the trace
  std::map<int, uint32_t> windows;  ///< index into comms, by number

 private:
  /// The word after a keyword; removes both from the words. Nothing if there is no such keyword.
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
