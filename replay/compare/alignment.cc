#include "replay/compare/alignment.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace rubato {
namespace {

constexpr size_t kWindow = 256;
constexpr size_t kSure = 3;

/// Operations of one run that were read and not passed yet.
class Window {
 public:
  explicit Window(OperationReader& reader) : reader_(&reader) {}

  /// Reads operations until there are `count`, or all.
  void fill(size_t count) {
    Operation operation;
    while (operations_.size() < count && reader_->next(operation)) operations_.push_back(operation);
  }
  size_t size() const { return operations_.size(); }
  const Operation& operator[](size_t i) const { return operations_[i]; }
  void pop() { operations_.pop_front(); }

 private:
  OperationReader* reader_;
  std::deque<Operation> operations_;
};

bool same(const Operation& a, const Operation& b) {
  return a.is_end || b.is_end ? a.is_end == b.is_end : a.call.what == b.call.what;
}

class Aligner {
 public:
  Aligner(OperationReader& before, OperationReader& after, const CallLog& before_log,
          const CallLog& after_log, const std::function<void(const AlignedStep&)>& visit)
      : before_(before),
        after_(after),
        before_names_(&before_log.trace().calls),
        after_names_(&after_log.trace().calls),
        visit_(&visit) {}

  void run() {
    for (;;) {
      before_.fill(1);
      after_.fill(1);
      if (before_.size() == 0 || after_.size() == 0) break;
      if (same(before_[0], after_[0]))
        pair(true);
      else if (before_[0].is_end)
        only_after();
      else if (after_[0].is_end)
        only_before();
      else
        resynchronise();
    }
    while (before_.size() > 0) {
      only_before();
      before_.fill(1);
    }
    while (after_.size() > 0) {
      only_after();
      after_.fill(1);
    }
  }

 private:
  using Place = std::pair<size_t, size_t>;

  bool same_name(const Operation& a, const Operation& b) const {
    if (a.is_end || b.is_end) return a.is_end == b.is_end;
    return (*before_names_)[a.call.name].name == (*after_names_)[b.call.name].name;
  }

  void resynchronise() {
    before_.fill(kWindow);
    after_.fill(kWindow);
    // If no place with equal operations was found, the search is not repeated before that window is
    // passed.
    std::optional<Place> place;
    if (passed_ >= names_until_) place = nearest(same);
    if (!place && passed_ >= names_until_) names_until_ = passed_ + kWindow;
    if (!place && same_name(before_[0], after_[0])) return pair(false);
    if (!place) {
      place = nearest([this](const Operation& a, const Operation& b) { return same_name(a, b); });
    }
    if (!place) place = {before_.size(), after_.size()};
    pass_over(*place);
  }

  /// The nearest place from which on operations are equal.
  template <typename Equal>
  std::optional<Place> nearest(Equal equal) const {
    const size_t p = before_.size(), m = after_.size();
    for (size_t distance = 1; distance <= p + m; ++distance) {
      // Of several at the same distance, one that skips the same number in both runs.
      std::optional<Place> best;
      size_t least = p + m;
      for (size_t i = distance < m ? 0 : distance - m + 1; i <= distance && i < p; ++i) {
        const size_t j = distance - i;
        if (j >= m || !equal_from(i, j, equal)) continue;
        const size_t skew = i > j ? i - j : j - i;
        if (best && skew >= least) continue;
        best = {i, j};
        least = skew;
      }
      if (best) return best;
    }
    return {};
  }

  /// True for kSure equal operations; near the end of both runs for all remaining ones.
  template <typename Equal>
  bool equal_from(size_t i, size_t j, Equal equal) const {
    for (size_t k = 0; k < kSure; ++k) {
      if (i + k >= before_.size() || j + k >= after_.size()) return false;
      const Operation& a = before_[i + k];
      const Operation& b = after_[j + k];
      if (!equal(a, b)) return false;
      if (a.is_end) return true;
    }
    return true;
  }

  void pass_over(Place place) {
    auto [before, after] = place;
    while (before > 0 && after > 0 && same_name(before_[0], after_[0])) {
      pair(false);
      --before;
      --after;
    }
    for (; before > 0; --before) only_before();
    for (; after > 0; --after) only_after();
  }

  void pair(bool is_same) {
    (*visit_)({&before_[0], &after_[0], is_same});
    before_.pop();
    after_.pop();
    ++passed_;
  }
  void only_before() {
    (*visit_)({&before_[0], nullptr, false});
    before_.pop();
    ++passed_;
  }
  void only_after() {
    (*visit_)({nullptr, &after_[0], false});
    after_.pop();
  }

  Window before_;
  Window after_;
  const std::vector<MpiCallInfo>* before_names_;
  const std::vector<MpiCallInfo>* after_names_;
  const std::function<void(const AlignedStep&)>* visit_;
  size_t passed_ = 0;  ///< of the run before
  size_t names_until_ = 0;
};

}  // namespace

void align(OperationReader& before, OperationReader& after,
           const std::function<void(const AlignedStep&)>& visit) {
  Aligner(before, after, before.log(), after.log(), visit).run();
}

}  // namespace rubato
