#include "tracer/record/function_probe.h"

#include <algorithm>

#include "tracer/mpi/pmpi.h"
#include "tracer/record/functions.h"
#include "tracer/record/recorder.h"

namespace rubato {
inline namespace tracing {

void FunctionProbe::begin_segment(ThreadLog& log) {
  end_ = log.limit;
  if (state_ == State::kPassing) unrecorded_ += kWindow - functions::stop_passing();
  wait(log, kFreeWords);
}

bool FunctionProbe::step(ThreadLog& log, size_t words, bool in_function) {
  const uint64_t now = Clock::now();
  const auto free_words = static_cast<size_t>(end_ - log.at);
  // A sample takes two windows of records, and the records of MPI calls in between.
  constexpr size_t kSampleWords = 2 * kHeadWords * kWindow + 4 * kFreeWords;
  if (free_words < words) return false;
  const bool good = in_function && whole(log) && free_words > kSampleWords;
  switch (state_) {
    case State::kIdle:
      if (!in_function || free_words < 2 * kSampleWords) break;
      state_ = State::kBefore;
      begin_window(log, kWindow);
      return true;
    case State::kBefore:
      if (!good) break;
      before_ = static_cast<double>(now - since_);
      state_ = State::kPassing;
      functions::pass(kWindow);
      begin_window(log, 1);  // of the function being entered or left
      return true;
    case State::kPassing:  // an MPI call
      unrecorded_ += kWindow - functions::stop_passing();
      break;
    case State::kAfter:
      if (!good) break;
      // Each window holds the work between kWindow hooks. The recorded ones hold kWindow and
      // kWindow - 1 records, the unrecorded one the record of the function in which it began.
      add(((before_ + static_cast<double>(now - since_)) / 2 - passing_) / (kWindow - 1.5));
      break;
  }
  wait(log, words);
  return true;
}

void FunctionProbe::passed(ThreadLog& log) {
  unrecorded_ += kWindow;
  passing_ = static_cast<double>(Clock::now() - since_);
  if (!whole(log)) return wait(log, kFreeWords);
  state_ = State::kAfter;
  begin_window(log, kWindow - 1);
}

void FunctionProbe::wait(ThreadLog& log, size_t words) {
  state_ = State::kIdle;
  const auto free_words = static_cast<size_t>(end_ - log.at);
  // A random period, so that samples do not fall on the same place of a loop.
  random_ = random_ * 1664525 + 1013904223;
  const size_t period = kPeriodWords / 2 + (random_ >> 8) % kPeriodWords;
  log.limit = log.at + std::min(free_words, std::max(period, words));
}

void FunctionProbe::begin_window(ThreadLog& log, uint32_t records) {
  begin_ = log.at;
  records_ = records;
  // The record that finds fewer than kFreeWords words is the first behind the window.
  log.limit = log.at + kHeadWords * records + kFreeWords - 1;
  since_ = Clock::now();
}

bool FunctionProbe::whole(const ThreadLog& log) const {
  if (log.at - begin_ != static_cast<ptrdiff_t>(kHeadWords * records_)) return false;
  for (const uint64_t* word = begin_; word != log.at; word += kHeadWords) {
    if ((*word & record::kShort) != 0 || !is_function_mark(*word & 1023)) return false;
  }
  return true;
}

void FunctionProbe::add(double sample) {
  block_[in_block_++] = sample;
  if (in_block_ == block_.size()) end_block();
}

void FunctionProbe::end_block() {
  sum_ += middle_mean(block_.data(), in_block_) * static_cast<double>(in_block_);
  samples_ += in_block_;
  in_block_ = 0;
}

double FunctionProbe::middle_mean(double* samples, size_t count) {
  std::sort(samples, samples + count);
  const size_t out = count / 4;
  double sum = 0;
  for (size_t i = out; i < count - out; ++i) sum += samples[i];
  return sum / static_cast<double>(count - 2 * out);
}

double FunctionProbe::ticks() {
  if (in_block_ >= kLeastSamples) end_block();
  in_block_ = 0;
  return samples_ > 0 ? sum_ / static_cast<double>(samples_) : 0;
}

uint64_t take_probes(MPI_Comm comm, Overhead& overhead) {
  constexpr int64_t kFewSamples = 16;
  constexpr double kParts = 1024;                  // of a tick
  int64_t own[3] = {0, 0, 0}, all[3] = {0, 0, 0};  // ticks of all samples, samples, unrecorded
  for (ThreadLog* log = Recorder::threads(); log != nullptr; log = log->next) {
    if (log->probe == nullptr) continue;
    const double ticks = log->probe->ticks();
    const uint64_t samples = log->probe->samples();
    own[0] += static_cast<int64_t>(ticks * kParts * static_cast<double>(samples));
    own[1] += static_cast<int64_t>(samples);
    own[2] += static_cast<int64_t>(log->probe->unrecorded());
  }
  PMPI(Allreduce)(own, all, 3, handles.int64, handles.sum, comm);
  if (all[1] >= kFewSamples && all[0] > 0) {
    overhead.function = static_cast<double>(all[0]) / kParts / static_cast<double>(all[1]);
  }
  return static_cast<uint64_t>(all[2]);
}

}  // namespace tracing
}  // namespace rubato
