#pragma once

// All timelines are blocked: records of some partner are missing, or it is a deadlock.

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "replay/engine/dependencies.h"

namespace rubato {

template <class Rules>
struct Stalls {
  static constexpr int K = Rules::kLanes;
  using State = ReplayState<Rules>;

  /// Releases timelines that wait for a rank whose streams have ended (a truncated or filtered
  /// archive, a receive without a send): their calls keep the recorded time. False when there was
  /// none.
  static bool release_hopeless(State& replay) {
    bool any = false;
    for (int timeline = 0; timeline < replay.trace->timelines(); ++timeline) {
      const int other = waits_for(replay, timeline);
      if (other < 0 || replay.running[other] > 0) continue;
      any = true;
      release(replay, timeline);
    }
    return any;
  }

  /// True when a timeline waits for the end of a send, or of a receive, and it is not known whether
  /// the other side was recorded.
  static bool may_lack_partner(State& replay, Awaited::Kind kind) {
    if (Rules::kFollowsRecording || replay.received) return false;
    for (int timeline = 0; timeline < replay.trace->timelines(); ++timeline) {
      const TimelineState<K>& state = replay.timelines[timeline];
      if (!state.is_blocked()) continue;
      const Awaited awaited = awaited_by(state);
      if (awaited.kind == kind && awaited.posted) return true;
    }
    return false;
  }

  /// Releases the blocked timeline whose call was recorded to leave first. The event that it waits
  /// for comes after a call that left later, so when recorded it did not wait for it: the record of
  /// its partner is missing. A rendezvous that only the scenario introduces does not count. False
  /// when there was none: a deadlock.
  static bool release_hole(State& replay) {
    int first = -1;
    for (int timeline = 0; timeline < replay.trace->timelines(); ++timeline) {
      const int other = waits_for(replay, timeline);
      if (other < 0) continue;
      const Awaited awaited = awaited_by(replay.timelines[timeline]);
      const bool may_lack = with_kind<Rules>(
          awaited, [&](auto kind) { return kind.may_lack_records(replay, awaited); });
      if (!may_lack) continue;
      const double leave = replay.current_call(timeline).leave;
      if (!Rules::kFollowsRecording && first_leave(replay, other, timeline) <= leave) continue;
      if (first < 0 || leave < replay.current_call(first).leave) first = timeline;
    }
    if (first >= 0) release(replay, first);
    return first >= 0;
  }

  /// Follows waits_for() from the first blocked timeline until the path closes.
  static std::string describe_deadlock(State& replay) {
    std::vector<int> path;
    int timeline = 0;
    while (!replay.timelines[timeline].is_blocked()) ++timeline;
    while (timeline >= 0 && std::find(path.begin(), path.end(), timeline) == path.end()) {
      path.push_back(timeline);
      timeline = blocked_timeline_of(replay, waits_for(replay, timeline), timeline);
    }
    std::string text;
    bool in_cycle = timeline < 0;
    for (const int member : path) {
      in_cycle = in_cycle || member == timeline;
      if (!in_cycle) continue;
      text +=
          replay.place(member, replay.current_call(member)) + describe_wait(replay, member) + "; ";
    }
    return text.substr(0, text.size() - 2);
  }

 private:
  /// The first event that a blocked timeline waits for.
  static Awaited awaited_by(const TimelineState<K>& state) {
    return state.awaited[state.next_awaited];
  }

  /// The rank that `timeline` waits for; -1: none.
  static int waits_for(State& replay, int timeline) {
    const TimelineState<K>& state = replay.timelines[timeline];
    if (!state.is_blocked()) return -1;
    const Awaited awaited = awaited_by(state);
    return with_kind<Rules>(awaited,
                            [&](auto kind) { return kind.partner(replay, state, awaited); });
  }

  /// The earliest recorded leave of the current calls of `rank`, without timeline `except`.
  static double first_leave(State& replay, int rank, int except) {
    double first = std::numeric_limits<double>::infinity();
    for (const int timeline : replay.trace->timelines_of(rank)) {
      if (timeline == except || replay.timelines[timeline].status == State::Status::kFinished)
        continue;
      first = std::min(first, replay.current_call(timeline).leave);
    }
    return first;
  }

  /// The current call of `timeline` stops waiting and keeps its recorded time.
  static void release(State& replay, int timeline) {
    TimelineState<K>& state = replay.timelines[timeline];
    const Awaited awaited = awaited_by(state);
    with_kind<Rules>(awaited, [&](auto kind) { kind.release(replay, state, awaited); });
  }

  /// The blocked timeline of `rank` that is furthest behind, if possible not `asking`; -1 when
  /// there is none.
  static int blocked_timeline_of(State& replay, int rank, int asking) {
    int blocked = -1;
    for (const int timeline : replay.trace->timelines_of(rank)) {
      if (!replay.timelines[timeline].is_blocked()) continue;
      const bool better = blocked < 0 || blocked == asking ||
                          (timeline != asking && replay.current_call(timeline).leave <
                                                     replay.current_call(blocked).leave);
      if (better) blocked = timeline;
    }
    return blocked;
  }

  static std::string describe_wait(State& replay, int timeline) {
    const Awaited awaited = awaited_by(replay.timelines[timeline]);
    const int other = waits_for(replay, timeline);
    return with_kind<Rules>(awaited,
                            [&](auto kind) { return kind.describe(replay, awaited, other); });
  }
};

}  // namespace rubato
