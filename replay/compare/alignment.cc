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
  Aligner(OperationReader& predicted, OperationReader& measured, const CallLog& predicted_log,
          const CallLog& measured_log, const std::function<void(const AlignedStep&)>& visit)
      : predicted_(predicted),
        measured_(measured),
        predicted_names_(&predicted_log.trace().calls),
        measured_names_(&measured_log.trace().calls),
        visit_(&visit) {}

  void run() {
    for (;;) {
      predicted_.fill(1);
      measured_.fill(1);
      if (predicted_.size() == 0 || measured_.size() == 0) break;
      if (same(predicted_[0], measured_[0]))
        pair(true);
      else if (predicted_[0].is_end)
        only_measured();
      else if (measured_[0].is_end)
        only_predicted();
      else
        resynchronise();
    }
    while (predicted_.size() > 0) {
      only_predicted();
      predicted_.fill(1);
    }
    while (measured_.size() > 0) {
      only_measured();
      measured_.fill(1);
    }
  }

 private:
  using Place = std::pair<size_t, size_t>;

  bool same_name(const Operation& a, const Operation& b) const {
    if (a.is_end || b.is_end) return a.is_end == b.is_end;
    return (*predicted_names_)[a.call.name].name == (*measured_names_)[b.call.name].name;
  }

  void resynchronise() {
    predicted_.fill(kWindow);
    measured_.fill(kWindow);
    // If no place with equal operations was found, the search is not repeated before that window is
    // passed.
    std::optional<Place> place;
    if (passed_ >= names_until_) place = nearest(same);
    if (!place && passed_ >= names_until_) names_until_ = passed_ + kWindow;
    if (!place && same_name(predicted_[0], measured_[0])) return pair(false);
    if (!place) {
      place = nearest([this](const Operation& a, const Operation& b) { return same_name(a, b); });
    }
    if (!place) place = {predicted_.size(), measured_.size()};
    pass_over(*place);
  }

  /// The nearest place from which on operations are equal.
  template <typename Equal>
  std::optional<Place> nearest(Equal equal) const {
    const size_t p = predicted_.size(), m = measured_.size();
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
      if (i + k >= predicted_.size() || j + k >= measured_.size()) return false;
      const Operation& a = predicted_[i + k];
      const Operation& b = measured_[j + k];
      if (!equal(a, b)) return false;
      if (a.is_end) return true;
    }
    return true;
  }

  void pass_over(Place place) {
    auto [predicted, measured] = place;
    while (predicted > 0 && measured > 0 && same_name(predicted_[0], measured_[0])) {
      pair(false);
      --predicted;
      --measured;
    }
    for (; predicted > 0; --predicted) only_predicted();
    for (; measured > 0; --measured) only_measured();
  }

  void pair(bool is_same) {
    (*visit_)({&predicted_[0], &measured_[0], is_same});
    predicted_.pop();
    measured_.pop();
    ++passed_;
  }
  void only_predicted() {
    (*visit_)({&predicted_[0], nullptr, false});
    predicted_.pop();
    ++passed_;
  }
  void only_measured() {
    (*visit_)({nullptr, &measured_[0], false});
    measured_.pop();
  }

  Window predicted_;
  Window measured_;
  const std::vector<MpiCallInfo>* predicted_names_;
  const std::vector<MpiCallInfo>* measured_names_;
  const std::function<void(const AlignedStep&)>* visit_;
  size_t passed_ = 0;  ///< of the predicted run
  size_t names_until_ = 0;
};

}  // namespace

void align(OperationReader& predicted, OperationReader& measured,
           const std::function<void(const AlignedStep&)>& visit) {
  Aligner(predicted, measured, predicted.log(), measured.log(), visit).run();
}

}  // namespace rubato
