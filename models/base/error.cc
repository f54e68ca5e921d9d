#include "models/base/error.h"

#include <algorithm>
#include <numeric>

namespace rubato {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string lower(std::string word) {
  for (char& c : word) c = lower(c);
  return word;
}

/// Levenshtein distance, one row at a time, ignoring case.
size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = diagonal + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replace});
    }
  }
  return row[b.size()];
}

}  // namespace

InputError::~InputError() = default;
UsageError::~UsageError() = default;

std::string nearest(const std::string& word, const std::vector<std::string>& candidates) {
  std::string best;
  size_t best_distance = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string quoted_list(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "'" : ", '") + word + "'";
  return list;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates) {
  constexpr size_t kShortest = 3;  // letters for a meaningful prefix
  const size_t letters = word.size() - std::min(word.find_first_not_of('-'), word.size());
  std::vector<std::string> longer;
  for (const std::string& candidate : candidates) {
    const bool is_new = std::find(longer.begin(), longer.end(), candidate) == longer.end();
    const bool begins = lower(candidate).starts_with(lower(word));
    if (letters >= kShortest && begins && is_new) longer.push_back(candidate);
  }
  if (longer.empty()) {
    const std::string best = nearest(word, candidates);
    return best.empty() ? "" : " (did you mean '" + best + "'?)";
  }
  return (longer.size() == 1 ? " (did you mean " : " (did you mean one of ") + quoted_list(longer) +
         "?)";
}

}  // namespace rubato
