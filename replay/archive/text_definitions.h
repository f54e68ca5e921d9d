#pragma once

#include <cstdint>
#include <map>
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

/// "7" of 7.0.
std::string whole(double number);

/// What a text trace (text_source.h) defines, and its other lines. Errors: InputError with `origin`
/// and the line.
struct TextDefinitions {
  TextDefinitions(const std::string& text, std::string origin);

  [[noreturn]] void fail(const TextLine& line, const std::string& why) const;
  double number(const TextLine& line, const std::string& word) const;
  /// The value behind a keyword, taken out of the words; `otherwise` when it is not there.
  double option(TextLine& line, const std::string& keyword, double otherwise) const;
  /// The rank that a word is, one that there is.
  int32_t rank_named(const TextLine& line, size_t word) const;
  /// A rank, a thread or a node.
  int count_from_0(const TextLine& line, const std::string& word) const;
  /// Index of the communicator that the trace gives this number.
  uint32_t comm_of(const TextLine& line, double number) const;

  TraceDefinitions trace;
  std::vector<TextLine> lines;
  std::map<int, uint32_t> comms;    ///< index, by the number that the trace gives
  std::map<int, uint32_t> windows;  ///< index into comms, by number

 private:
  void read_lines(const std::string& text);
  void define(int ranks, std::vector<int> nodes, const std::vector<TextLine>& definitions,
              const std::map<int, int>& threads);
  void define_communicator(const TextLine& line);
  void define_window(TextLine line);
  void define_neighbours(const TextLine& line);
  void check(int rank) const;

  std::string origin_;
};

}  // namespace rubato
