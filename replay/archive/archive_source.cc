// An archive as a source of calls: it is decoded once, by several threads, into a CallStore, from
// which the replay reads repeatedly. call_store.h gives the reason.

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <thread>

#include "models/base/error.h"
#include "replay/archive/archive.h"
#include "replay/archive/event_files.h"
#include "replay/archive/host_definitions.h"
#include "replay/archive/kernel_clock.h"
#include "replay/cluster/byte_stream.h"
#include "replay/cluster/division.h"
#include "replay/cluster/processors.h"
#include "replay/cluster/team.h"
#include "replay/cluster/try_all.h"
#include "replay/store/call_places.h"
#include "replay/store/call_store.h"
#include "tracer/archive/schema.h"

namespace rubato {
namespace {

class ArchiveSource : public EventSource {
 public:
  ArchiveSource(const std::string& path, const InputOptions& options)
      : ignore_offsets_(options.ignore_offsets),
        threads_(options.threads),
        processes_(options.team ? options.team->on_this_host() : 1) {
    const auto read = [&] {
      const std::string anchor = find_anchor(path);
      reader_ = EventFiles::open_anchor(anchor);
      Archive archive = read_definitions(anchor, reader_.get());
      // Records outside of any MPI region need a name; call_builder.cc takes the last entry.
      archive.definitions.calls.push_back(mpi_call_info("(outside MPI calls)"));
      return archive;
    };
    archive_ = options.team ? read_once_per_host(*options.team, read) : read();
    TraceDefinitions& trace = archive_.definitions;
    ranks_ = {0, trace.ranks()};
    LocationsSeen seen;
    if (options.team) {
      const Division division(sizes_of_ranks(), options.team->processes());
      ranks_ = {division.first(options.team->self()), division.end(options.team->self())};
      try_all(*options.team, [&] { seen = look_at_locations(); });
      seen.combine(*options.team);
      ranks_ = {0, trace.ranks()};
    } else {
      seen = look_at_locations();
    }
    // Our tracer reads a clock of the node; for other tracers the clock is unknown.
    trace.one_clock = trace.creator.starts_with(schema::kCreatorPrefix) &&
                      trace.nodes.size() <= 1 && !seen.moves_clocks;
    side_miscounts_ = std::move(seen.miscounts);
    const bool has_threads = !seen.mpi_threads.empty();
    trace.make_timelines(std::move(seen.mpi_threads));
    if (has_threads) make_calls_of_joins();
  }

  const TraceDefinitions& definitions() const override { return archive_.definitions; }

  std::vector<uint64_t> sizes_of_ranks() const override {
    std::vector<uint64_t> sizes;
    for (int rank = 0; rank < archive_.definitions.ranks(); ++rank) sizes.push_back(size_of(rank));
    return sizes;
  }

  bool read_only(int first, int end) override {
    if (ranks_ != Ranks{first, end}) store_.reset();
    ranks_ = {first, end};
    return true;
  }

  void load(const std::function<void(double)>& progress) override {
    if (store_) return;
    const TraceDefinitions& trace = archive_.definitions;
    const std::vector<int> local = trace.timelines_of(ranks_.first, ranks_.end);
    auto store = std::make_unique<CallStore>(trace.timelines(), local, keep_records_);
    const std::vector<int> shares = shares_of_ranks();
    const int helpers = static_cast<int>(shares.size()) - 2;
    if (!timed_functions_.empty()) function_times_.emplace(trace.timelines(), &local);
    if (function_totals_) function_totals_->clear();
    samples_ = {archive_.index.sample_ticks, !archive_.index.has_enters};
    const bool has_samples =
        archive_.index.sample_ticks > 0 && (function_times_ || function_totals_ || places_wanted_);
    for (const int timeline : local) {
      if (has_samples) samples_.sums[timeline] = {};
      if (function_totals_) (*function_totals_)[timeline] = {};
    }
    const FunctionWatch watch = {function_times_ ? &*function_times_ : nullptr,
                                 function_totals_ ? &*function_totals_ : nullptr,
                                 places_wanted_ ? &places_.emplace(trace.timelines()) : nullptr,
                                 has_samples ? &samples_ : nullptr};
    std::vector<Counts> counts(helpers + 1);
    std::vector<std::exception_ptr> errors(helpers + 1);
    std::atomic<int> ranks_done = 0;
    std::atomic<int> failed = helpers + 1;  // the first share that failed
    const auto work = [&](int share, EventFiles& files) {
      for (int rank = shares[share]; rank < shares[share + 1] && share < failed; ++rank) {
        files.load_rank(rank, keep_records_, *store, counts[share], watch);
        ++ranks_done;
        if (share == 0 && progress)
          progress(static_cast<double>(ranks_done) / (shares.back() - shares[0]));
      }
    };
    const auto guarded_work = [&](int share) {
      try {
        if (share == 0) return work(0, files());
        EventFiles files(archive_, ignore_offsets_, EventFiles::open_anchor(archive_.anchor),
                         locations_of({shares[share], shares[share + 1]}));
        work(share, files);
      } catch (...) {
        errors[share] = std::current_exception();
        // Earlier shares continue: so the first error is the same for any number of threads.
        for (int first = failed; share < first && !failed.compare_exchange_weak(first, share);) {
        }
      }
    };
    {
      std::vector<std::jthread> threads;
      for (int share = 1; share <= helpers; ++share) threads.emplace_back(guarded_work, share);
      guarded_work(0);
    }
    for (const std::exception_ptr& error : errors) {
      if (error) std::rethrow_exception(error);
    }
    counts_ = {};
    for (const Counts& part : counts) counts_ += part;
    for (const Miscount& miscount : side_miscounts_) {
      if (reads(miscount.rank)) counts_.miscounted.add({1, miscount.text()});
    }
    store_ = std::move(store);
  }

  bool read(int timeline, Block& block) override {
    load({});
    return store_->read(timeline, block);
  }

  CallUnpacker* unpacker(int timeline) override {
    return store_ ? store_->unpacker(timeline) : nullptr;
  }

  void rewind() override {
    if (store_) store_->rewind();
  }

  void keep_records(bool keep) override {
    if (keep && !keep_records_) store_.reset();  // the store has no records
    keep_records_ = keep_records_ || keep;
  }

  std::vector<double> side_records(const SideLocation& side) override {
    std::vector<double> times;
    files().read_apart(side, [&](const Block& block) {
      for (const Record& record : block.records) times.push_back(record.time);
      for (const Call& call : block.calls) {
        if (call.actions == 0) continue;
        throw InputError(archive_.anchor + ": location " + std::to_string(side.id) + ", event " +
                         std::to_string(call.event) +
                         ": MPI records on a location that is no thread of rank " +
                         std::to_string(side.rank) + "; they cannot be replayed");
      }
      return true;
    });
    return times;
  }

  KernelSums kernels() override {
    KernelClock clock;
    for (const SideLocation& side : archive_.definitions.side_locations) {
      if (side.stream) files().sum_kernels(side, clock);
    }
    return clock.sums(archive_);
  }

  Counts counts() const override { return counts_; }

  bool looks_at_posts() const override {
    if (!store_ || store_->uses().synchronous_sends) return true;
    const auto& names = store_->uses().names;
    return std::any_of(names.begin(), names.end(),
                       [&](uint16_t name) { return archive_.definitions.calls[name].takes_some; });
  }

  std::vector<FunctionName> functions() const override {
    std::vector<FunctionName> names;
    for (const auto& [region, name] : archive_.index.functions) names.push_back(name);
    return names;
  }

  void time_functions(const std::vector<std::string>& names) override {
    if (names == timed_functions_) return;
    store_.reset();
    timed_functions_ = names;
    archive_.index.chosen_functions = {};
    for (const auto& [region, function] : archive_.index.functions) {
      uint64_t bits = 0;
      for (size_t i = 0; i < names.size(); ++i) {
        if (is_function(function.name, names[i])) bits |= uint64_t{1} << i;
      }
      if (bits != 0) archive_.index.chosen_functions.set(region, bits);
    }
  }

  const FunctionTimes* function_times() const override {
    return function_times_ ? &*function_times_ : nullptr;
  }

  void total_functions() override {
    if (function_totals_) return;
    store_.reset();
    function_totals_.emplace();
  }

  const FunctionTotals* function_totals() const override {
    return function_totals_ ? &*function_totals_ : nullptr;
  }

  std::vector<CallSite> call_sites() const override { return archive_.index.call_sites; }

  void note_places() override {
    const ArchiveIndex& index = archive_.index;
    if (places_wanted_ || (index.functions.empty() && index.call_sites.empty())) return;
    store_.reset();
    places_wanted_ = true;
  }

  const CallPlaces* call_places() const override { return places_ ? &*places_ : nullptr; }
  const SampleTotals* sample_totals() const override {
    return samples_.sums.empty() ? nullptr : &samples_;
  }

 private:
  struct Ranks {
    int first, end;
    bool operator==(const Ranks&) const = default;
  };

  /// What is known of the locations before their calls are read.
  struct LocationsSeen {
    bool moves_clocks = false;  ///< some have offsets of their clocks
    std::vector<SideLocation> mpi_threads;
    std::vector<Miscount> miscounts;  ///< of threads that do not call MPI

    /// Combines the results of all processes of `team`.
    void combine(Team& team) {
      moves_clocks = !team.all(!moves_clocks);
      combine(team, mpi_threads);
      combine(team, miscounts);
    }

   private:
    template <typename T>
    static void combine(Team& team, std::vector<T>& list) {
      ByteWriter mine;
      mine.list<T>(list);
      ByteWriter all;
      std::vector<T> gathered;
      for (const Bytes& bytes : team.gather(mine.take())) {
        const auto more = ByteReader(bytes).list<T>(nullptr);
        gathered.insert(gathered.end(), more.begin(), more.end());
      }
      all.list<T>(gathered);
      const Bytes shared = team.share(all.take());
      list = ByteReader(shared).list<T>(nullptr).copy();
    }
  };

  LocationsSeen look_at_locations() {
    LocationsSeen seen;
    seen.moves_clocks = files().moves_clocks();
    for (const SideLocation& side : archive_.definitions.side_locations) {
      if (!reads(side.rank) || !side.thread) continue;
      std::optional<Miscount> miscount;
      if (calls_mpi(side, miscount))
        seen.mpi_threads.push_back(side);
      else if (miscount)
        seen.miscounts.push_back(*miscount);
    }
    return seen;
  }

  bool reads(int rank) const { return ranks_.first <= rank && rank < ranks_.end; }

  /// The locations that call MPI.
  std::vector<uint64_t> locations_of(Ranks ranks) const {
    const TraceDefinitions& trace = archive_.definitions;
    std::vector<uint64_t> locations;
    for (const int timeline : trace.timelines_of(ranks.first, ranks.end))
      locations.push_back(trace.location_of(timeline));
    return locations;
  }

  /// The files of all locations of the ranks that are read.
  EventFiles& files() {
    if (files_ && files_of_ == ranks_) return *files_;
    files_.reset();
    std::vector<uint64_t> locations = locations_of(ranks_);
    for (const SideLocation& side : archive_.definitions.side_locations) {
      if (reads(side.rank)) locations.push_back(side.id);
    }
    EventFiles::Reader reader =
        reader_ ? std::move(reader_) : EventFiles::open_anchor(archive_.anchor);
    files_.emplace(archive_, ignore_offsets_, std::move(reader), locations);
    files_of_ = ranks_;
    return *files_;
  }

  /// Makes calls of the regions in which a thread waits for the end of another one.
  void make_calls_of_joins() {
    std::vector<MpiCallInfo>& calls = archive_.definitions.calls;
    for (const auto& [region, name] : archive_.index.joins) {
      MpiCallInfo join;
      join.name = name;
      join.joins = true;
      archive_.index.call_of_region.set(region, static_cast<int32_t>(calls.size()) - 1);
      calls.insert(calls.end() - 1, join);  // the last one is for records outside of calls
    }
  }

  /// `miscount`: set for a location that was read to its end.
  bool calls_mpi(const SideLocation& side, std::optional<Miscount>& miscount) {
    bool found = false;
    miscount = files().read_apart(side, [&](const Block& block) {
      found = std::any_of(block.calls.begin(), block.calls.end(), [](const Call& call) {
        return call.role == CallRole::kMpi || call.role == CallRole::kInit ||
               call.role == CallRole::kFinalize;
      });
      return !found;
    });
    return found;
  }

  /// Number of records of a rank, according to the archive.
  uint64_t size_of(int rank) const {
    const TraceDefinitions& trace = archive_.definitions;
    uint64_t records = 0;
    for (const int timeline : trace.timelines_of(rank))
      records += std::min(archive_.index.events_of(trace.location_of(timeline)), kMostRecords);
    return records;
  }

  /// The ranks that each thread decodes: from one entry up to the next. About the same number of
  /// records each; one thread if there are too few for more.
  std::vector<int> shares_of_ranks() const {
    const auto [first, end] = ranks_;
    std::vector<uint64_t> sum = {0};
    for (int rank = first; rank < end; ++rank) sum.push_back(sum.back() + size_of(rank));
    const int most = threads_ > 0 ? std::min(threads_, kMostAskedThreads)
                                  : std::min(available_processors(processes_), kMostThreads);
    const uint64_t enough = threads_ > 0 ? 1 : kRecordsOfThread;
    const int threads = static_cast<int>(
        std::clamp<uint64_t>(sum.back() / enough, 1, std::min(most, std::max(1, end - first))));
    std::vector<int> shares = {first};
    for (int thread = 1; thread < threads; ++thread) {
      const uint64_t until = sum.back() * static_cast<uint64_t>(thread) / threads;
      const auto rank = std::lower_bound(sum.begin(), sum.end(), until) - sum.begin();
      shares.push_back(std::max(shares.back(), first + static_cast<int>(rank)));
    }
    shares.push_back(end);
    return shares;
  }

  static constexpr int kMostThreads = 8;        ///< more would only wait for the disk
  static constexpr int kMostAskedThreads = 64;  ///< each keeps files open
  /// Bound for a location, so that numbers of damaged archives do not overflow sums.
  static constexpr uint64_t kMostRecords = uint64_t{1} << 32;
  static constexpr uint64_t kRecordsOfThread = 1000000;  ///< a thread pays from this number on

  bool ignore_offsets_;
  int threads_;
  int processes_;
  Archive archive_;
  Ranks ranks_{};              ///< the ranks that are read
  EventFiles::Reader reader_;  ///< has read the definitions, until files() takes it
  std::optional<EventFiles> files_;
  Ranks files_of_{};
  std::unique_ptr<CallStore> store_;  ///< set once it is filled
  Counts counts_;
  std::optional<FunctionTimes> function_times_;  ///< set if some are needed
  std::optional<FunctionTotals> function_totals_;
  SampleTotals samples_;
  bool places_wanted_ = false;
  std::optional<CallPlaces> places_;
  bool keep_records_ = false;
  std::vector<Miscount> side_miscounts_;  ///< of threads that do not call MPI
  std::vector<std::string> timed_functions_;
};

}  // namespace

std::unique_ptr<EventSource> open_archive(const std::string& path, const InputOptions& options) {
  return std::make_unique<ArchiveSource>(path, options);
}

}  // namespace rubato
