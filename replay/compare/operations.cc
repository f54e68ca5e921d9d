#include "replay/compare/operations.h"

#include <algorithm>

namespace rubato {

OperationReader::OperationReader(const CallLog& log, int timeline)
    : log_(&log), reader_(log, timeline) {
  LoggedCall first;
  ended_ = !reader_.next(first);  // its MPI_Init or its kBegin
  begin_ = clock_ = first.leave;
  read_ahead();
}

bool OperationReader::is_poll(const LoggedCall& call) const {
  const MpiCallInfo& info = log_->trace().calls[call.name];
  return info.tests || info.probes;
}

void OperationReader::read_ahead() {
  ahead_ = {};
  has_ahead_ = false;
  LoggedCall call;
  while (!ended_ && reader_.next(call)) {
    ahead_.outside[static_cast<int>(OutsidePart::kCompute)] += call.enter - clock_;
    clock_ = call.leave;
    if (call.role == CallRole::kThread) {
      ahead_.outside[static_cast<int>(OutsidePart::kCompute)] += call.leave - call.enter;
      continue;
    }
    if (call.role == CallRole::kOff || call.role == CallRole::kFlush ||
        call.role == CallRole::kStolen) {
      const OutsidePart part = call.role == CallRole::kOff     ? OutsidePart::kOff
                               : call.role == CallRole::kFlush ? OutsidePart::kFlush
                                                               : OutsidePart::kStolen;
      ahead_.outside[static_cast<int>(part)] += call.leave - call.enter;
      continue;
    }
    ahead_.call = call;
    ahead_.is_end = ended_ = call.role == CallRole::kFinalize || call.role == CallRole::kEnd;
    ahead_.inside = ended_ ? 0 : call.leave - call.enter;
    ahead_.leave = ended_ ? call.enter : call.leave;
    ahead_.polls = !ended_ && is_poll(call);
    has_ahead_ = true;
    return;
  }
}

bool OperationReader::next(Operation& operation) {
  if (!has_ahead_) return false;
  operation = ahead_;
  read_ahead();
  while (operation.polls && has_ahead_ && ahead_.polls) {
    for (int part = 0; part < kOutsideParts; ++part)
      operation.outside[part] += ahead_.outside[part];
    operation.inside += ahead_.inside;
    operation.leave = ahead_.leave;
    ++operation.calls;
    read_ahead();
  }
  return true;
}

}  // namespace rubato
