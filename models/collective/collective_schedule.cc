// The messages of the algorithms of collective operations, from their phases.

#include "models/collective/collective_schedule.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "models/collective/algorithm_table.h"

namespace rubato {

std::vector<ScheduledMessage> algorithm_schedule(CollectiveOp op, AlgorithmChoice choice, int p,
                                                 double bytes, int root) {
  phases::ScheduleBuilder schedule(phases::sizes_of(op, choice, p, bytes));
  for (const phases::Step& step : phases::phases_of(op, choice.algorithm).in_order()) {
    schedule.combines = step.combines;
    std::visit(
        [&]<typename P>(const P& phase) {
          if constexpr (!std::same_as<P, phases::Part>) phase.messages(schedule);
        },
        step.phase);
  }
  return std::move(schedule).numbered_from(is_rooted(op) ? std::max(root, 0) : 0);
}

namespace {

struct Operation {
  CollectiveOp op;
  double bytes;
};

/// The operation itself, then those of which its algorithm is composed, in order.
std::vector<Operation> operations_of(CollectiveOp op, AlgorithmChoice choice, int p, double bytes) {
  const phases::Sizes sizes = phases::sizes_of(op, choice, p, bytes);
  std::vector<Operation> operations = {{op, bytes}};
  for (const phases::Step& step : phases::phases_of(op, choice.algorithm).in_order()) {
    if (const auto* part = std::get_if<phases::Part>(&step.phase))
      operations.push_back({part->op, sizes.of(part->amount)});
  }
  return operations;
}

/// The algorithms of `choices`, by operations_of(), over `bytes`; segments are bytes here.
std::vector<ScheduledMessage> schedule_of(CollectiveOp op,
                                          const std::vector<AlgorithmChoice>& choices, int p,
                                          double bytes, int root) {
  const auto operations = operations_of(op, choices[0], p, bytes);
  if (operations.size() == 1) return algorithm_schedule(op, choices[0], p, bytes, root);
  std::vector<ScheduledMessage> schedule;
  for (size_t i = 1; i < operations.size(); ++i) {
    const int steps = schedule.empty() ? 0 : schedule.back().step + 1;
    for (ScheduledMessage message :
         algorithm_schedule(operations[i].op, choices[i], p, operations[i].bytes, 0)) {
      message.step += steps;
      schedule.push_back(message);
    }
  }
  return schedule;
}

}  // namespace

std::vector<ScheduledMessage> collective_schedule(CollectiveOp op, const CollectiveModel& model,
                                                  int p, double bytes, int root) {
  if (op == CollectiveOp::kCreateHandle || op == CollectiveOp::kDestroyHandle)
    return collective_schedule(CollectiveOp::kAllgather, model, p, kHandleBytes, root);
  std::vector<AlgorithmChoice> choices;
  for (const Operation& each : operations_of(op, model.choose(op, p, bytes), p, bytes))
    choices.push_back(model.choose(each.op, p, each.bytes));
  return schedule_of(op, choices, p, bytes, root);
}

std::vector<AlgorithmChoice> schedule_choices(CollectiveOp op, const CollectiveModel& model, int p,
                                              double bytes) {
  std::vector<AlgorithmChoice> choices;
  for (const Operation& each : operations_of(op, model.choose(op, p, bytes), p, bytes)) {
    AlgorithmChoice choice = model.choose(each.op, p, each.bytes);
    const double n = each.bytes * phases::cut_part(choice.algorithm);
    const double count = phases::Segments(n, choice.segment).count;
    // A little more than a segment, so that rounding does not add one.
    constexpr double kMore = 1 + 1e-9;
    choice.segment = count > 1 ? n / bytes / count * kMore : 0;
    choices.push_back(choice);
  }
  return choices;
}

std::vector<ScheduledMessage> unit_schedule(CollectiveOp op,
                                            const std::vector<AlgorithmChoice>& choices, int p) {
  return schedule_of(op, choices, p, 1, 0);
}

}  // namespace rubato
