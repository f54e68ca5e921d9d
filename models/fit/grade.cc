#include "models/fit/grade.h"

#include <algorithm>
#include <cmath>

#include "models/base/number_text.h"
#include "models/fit/timed_length.h"
#include "models/platform/uncertainty.h"

namespace rubato {
namespace {

constexpr double kLostNoticed = 0.15;  // of the time
constexpr double kOfInterruption = 0.1;
constexpr double kOfPartsLeftOut = 0.05;

std::string percent(double share) {
  return std::to_string(std::lround(100 * share)) + " %";
}

/// The number that a text of [measured] begins with; `otherwise` without one.
double number_in(const Provenance& measured, const std::string& key, double otherwise = 0) {
  const auto found = measured.find(key);
  return found == measured.end() ? otherwise : leading_number(found->second.c_str());
}

}  // namespace

Grade grade_calibration(const Provenance& measured) {
  Grade grade;
  const auto add = [&](const std::string& fault, double error) {
    grade.faults += (grade.faults.empty() ? "" : "; ") + fault;
    grade.error = std::hypot(grade.error, error);
  };
  // Fixed work is also slowed by ranks that share a core, and messages also vary on an idle
  // machine; other programs slow both, so the smaller loss counts. If only one was measured, that
  // is used. A program may take longer by lost / (1 - lost).
  const double noise = number_in(measured, "noise", number_in(measured, "messages_lost"));
  const double lost = std::min(noise, number_in(measured, "messages_lost", noise)) / 100;
  if (lost > kLostNoticed)
    add("other programs took " + percent(lost) + " of the time",
        std::min(1.0, lost / (1 - std::min(lost, 0.99))));
  if (measured.count("interrupted")) add("it was interrupted", kOfInterruption);
  for (const char* level : {"network", "node", "socket"}) {
    const double differ = number_in(measured, std::string(level) + "_halves_differ_by") / 100;
    if (differ > kRepeatable)
      add(std::string("two halves of level ") + level + " differ by " + percent(differ), differ);
  }
  if (const auto shift = measured.find("network_not_explained"); shift != measured.end())
    add("messages of several nodes at once are up to " + shift->second +
            " off: state the topology with network=",
        number_in(measured, shift->first) / 100);
  if (const auto left = measured.find("left_out"); left != measured.end())
    add("left out for lack of time: " + left->second, kOfPartsLeftOut);
  return grade;
}

void add_grade(Platform& platform, double model_error) {
  const Grade grade = grade_calibration(platform.measured);
  platform.grade = grade.faults;
  if (model_error != kModelError || grade.error > 0)
    platform.model_error = std::hypot(model_error, grade.error);
}

}  // namespace rubato
