#pragma once

// The calls of each call site, or call path if these are recorded, in one scenario: mpiP's table.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "replay/observe/kept_losses.h"
#include "replay/observe/observer.h"
#include "replay/store/call_places.h"
#include "replay/trace/trace.h"

namespace rubato {

/// The calls of one name at one call site of one function, of all ranks.
struct SiteSum {
  uint64_t count = 0;
  double time = 0, least = 0, most = 0;  ///< ticks in the calls; the shortest, the longest call
  double waits = 0;                      ///< ticks of these until their causes
  // Data that the calls send and receive, as in CallTraffic, and its messages.
  uint64_t messages = 0, bytes = 0;
  uint64_t smallest = UINT64_MAX, largest = 0;
  uint64_t sent = 0, bytes_sent = 0;  ///< of these messages
  std::vector<double> by_rank;        ///< ticks of each rank in the calls; -1: it makes none

  void add_message(uint64_t bytes_of_message, bool sends);
};

/// REQUIRES: note_places() was called for the source. Only the window of a rank counts, as in
/// Profile. Errors: as CallFile's.
class SiteProfile : public Observer<1> {
 public:
  SiteProfile(const EventSource& source, KeptLosses kept);

  void begin() override;
  void call(int timeline, const Call& call, const Block& block, const Lanes<1>& clock_before,
            double recorded_before, const Lanes<1>& enter, const Lanes<1>& leave) override;
  void waited(int timeline, const Call& call, const Waited& waited) override;
  void polled(int timeline, std::span<const PolledWait> polls, double begin,
              const Waited& waited) override;

  struct Site {
    uint16_t call = 0;             ///< index into TraceDefinitions::calls
    uint32_t function = kNoPlace;  ///< that makes the call: index into EventSource::functions()
    uint32_t site = kNoPlace;      ///< index into EventSource::call_sites()
    auto operator<=>(const Site&) const = default;
  };
  const std::map<Site, SiteSum>& sites() const { return sites_; }

 private:
  struct Timeline {
    bool over = false;  ///< MPI_Finalize was entered
    double wait = 0;    ///< of the call that call() will report next
    std::optional<CallPlaces::Reader> reader;
    std::map<uint16_t, SiteSum*> latest;  ///< by name
  };

  void add_collective(SiteSum& sum, int rank, const Action& action) const;

  const EventSource* source_;
  const TraceDefinitions* trace_;
  KeptLosses kept_;
  std::vector<Timeline> timelines_;
  std::map<Site, SiteSum> sites_;
};

}  // namespace rubato
