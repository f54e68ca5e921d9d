#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "replay/observe/observer.h"

namespace rubato {

/// Passes the calls of the first of K scenarios on to observers of one.
template <int K>
class FirstLane : public Observer<K> {
 public:
  explicit FirstLane(std::vector<Observer<1>*> observers) : observers_(std::move(observers)) {}

  void begin() override {
    for (Observer<1>* observer : observers_) observer->begin();
  }
  void call(int timeline, const Call& call, const Block& block, const Lanes<K>& clock_before,
            double recorded_before, const Lanes<K>& enter, const Lanes<K>& leave) override {
    for (Observer<1>* observer : observers_)
      observer->call(timeline, call, block, first(clock_before), recorded_before, first(enter),
                     first(leave));
  }
  bool watches_enters() const override {
    return std::any_of(observers_.begin(), observers_.end(),
                       [](const Observer<1>* observer) { return observer->watches_enters(); });
  }
  void entered(int timeline, const Call& call, const Lanes<K>& clock_before, double recorded_before,
               const Lanes<K>& enter) override {
    for (Observer<1>* observer : observers_) {
      if (observer->watches_enters())
        observer->entered(timeline, call, first(clock_before), recorded_before, first(enter));
    }
  }
  void polled(int timeline, std::span<const PolledWait> polls, double begin,
              const Waited& waited) override {
    for (Observer<1>* observer : observers_) observer->polled(timeline, polls, begin, waited);
  }
  void waited(int timeline, const Call& call, const Waited& waited) override {
    for (Observer<1>* observer : observers_) observer->waited(timeline, call, waited);
  }
  void message(const Delivery& delivery) override {
    for (Observer<1>* observer : observers_) observer->message(delivery);
  }
  bool wants_messages() const override {
    return std::any_of(observers_.begin(), observers_.end(),
                       [](const Observer<1>* observer) { return observer->wants_messages(); });
  }

 private:
  static Lanes<1> first(const Lanes<K>& lanes) { return Lanes<1>::Constant(lanes[0]); }

  std::vector<Observer<1>*> observers_;
};

}  // namespace rubato
