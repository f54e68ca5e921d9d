// The metrics of an archive: definitions, then the records ENTER, LEAVE and METRIC of each
// location.

#include "replay/archive/metrics.h"

#include <otf2/otf2.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <unordered_map>

#include "models/base/error.h"
#include "replay/archive/archive.h"
#include "replay/archive/event_files.h"
#include "replay/archive/now_reading.h"
#include "replay/archive/record_callback.h"

namespace rubato {
namespace {

/// A metric as OTF2 defines it.
struct Member {
  uint32_t name, unit, description;
  uint8_t mode;
  double scale;  ///< base^exponent
};

struct MetricDefinitions {
  std::unordered_map<uint32_t, std::string> strings;
  std::map<uint32_t, Member> members;
  std::unordered_map<uint32_t, std::vector<uint32_t>> classes;  ///< and instances: their members
  std::vector<std::pair<uint32_t, uint32_t>> instances;         ///< instance, class
  uint64_t resolution = 1;
  uint64_t length = 0;
};

MetricDefinitions& definitions_of(void* user) {
  return *static_cast<MetricDefinitions*>(user);
}

OTF2_CallbackCode on_metric_string(void* user, OTF2_StringRef self, const char* text) {
  definitions_of(user).strings[self] = text;
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_member(void* user, OTF2_MetricMemberRef self, OTF2_StringRef name,
                            OTF2_StringRef description, OTF2_MetricType, OTF2_MetricMode mode,
                            OTF2_Type, OTF2_Base base, int64_t exponent, OTF2_StringRef unit) {
  const double radix = base == OTF2_BASE_BINARY ? 2 : 10;
  definitions_of(user).members[self] = {name, unit, description, mode,
                                        std::pow(radix, static_cast<double>(exponent))};
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_class(void* user, OTF2_MetricRef self, uint8_t count,
                           const OTF2_MetricMemberRef* members, OTF2_MetricOccurrence,
                           OTF2_RecorderKind) {
  definitions_of(user).classes[self].assign(members, members + count);
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_instance(void* user, OTF2_MetricRef self, OTF2_MetricRef of_class,
                              OTF2_LocationRef, OTF2_MetricScope, uint64_t) {
  definitions_of(user).instances.emplace_back(self, of_class);
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_metric_clock(void* user, uint64_t resolution, uint64_t, uint64_t length,
                                  uint64_t) {
  definitions_of(user).resolution = std::max<uint64_t>(resolution, 1);
  definitions_of(user).length = length;
  return OTF2_CALLBACK_SUCCESS;
}

MetricDefinitions read_metric_definitions(const std::string& anchor, OTF2_Reader* reader) {
  MetricDefinitions found;
  const NowReading reading(anchor);
  OTF2_GlobalDefReader* definitions = OTF2_Reader_GetGlobalDefReader(reader);
  if (!definitions) throw InputError(anchor + ": the global definitions (.def) cannot be read");
  OTF2_GlobalDefReaderCallbacks* callbacks = OTF2_GlobalDefReaderCallbacks_New();
  OTF2_GlobalDefReaderCallbacks_SetStringCallback(callbacks, on_metric_string);
  OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(callbacks, on_metric_clock);
  OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback(callbacks, on_member);
  OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback(callbacks, on_class);
  OTF2_GlobalDefReaderCallbacks_SetMetricInstanceCallback(callbacks, on_instance);
  OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, callbacks, &found);
  OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
  uint64_t read = 0;
  OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &read);
  OTF2_Reader_CloseGlobalDefReader(reader, definitions);
  for (const auto& [instance, of_class] : found.instances) {
    const auto place = found.classes.find(of_class);
    if (place != found.classes.end()) {
      std::vector<uint32_t> members = place->second;
      found.classes[instance] = std::move(members);
    }
  }
  return found;
}

/// How the values of a metric are to be understood: as the mode in `members` says.
enum class Values : uint8_t { kTotal, kCountBefore, kCountAfter, kGauge };

Values values_of(uint8_t mode) {
  const int property = mode & OTF2_METRIC_VALUE_MASK;
  const int timing = mode & OTF2_METRIC_TIMING_MASK;
  if (property == OTF2_METRIC_VALUE_ABSOLUTE) return Values::kGauge;
  if (timing == OTF2_METRIC_TIMING_NEXT) return Values::kCountAfter;
  // A change that is valid at a point belongs to the time before it, too.
  if (property == OTF2_METRIC_VALUE_RELATIVE || timing == OTF2_METRIC_TIMING_LAST)
    return Values::kCountBefore;
  return Values::kTotal;
}

/// Reads the records of all locations, one after the other.
class MetricReader {
 public:
  MetricReader(Archive& archive, const MetricDefinitions& definitions, bool ignore_offsets)
      : archive_(&archive), definitions_(&definitions), ignore_offsets_(ignore_offsets) {
    found_.ranks = archive.definitions.ranks();
    for (const auto& [ref, member] : definitions.members) {
      number_[ref] = found_.metrics.size();
      values_.push_back(values_of(member.mode));
      scale_.push_back(member.scale);
      found_.metrics.push_back({text(member.name), text(member.unit), text(member.description),
                                values_.back() != Values::kGauge});
    }
    found_.gauges.resize(found_.metrics.size() * found_.ranks);
    found_.seconds = static_cast<double>(definitions.length) /
                     static_cast<double>(definitions.resolution) / Metrics::kIntervals;
    found_.program.assign(found_.metrics.size(), {});
    add_place({});
    std::map<std::pair<std::string, uint32_t>, uint32_t> lines;
    for (const CallSite& site : archive.index.call_sites) {
      const auto number = static_cast<uint32_t>(first_in_line_.size());
      first_in_line_.push_back(
          lines.emplace(std::pair(site.file, site.line), number).first->second);
    }
  }

  Metrics read(OTF2_Reader* reader);

 private:
  /// What a place is known by: the number of a function or of a call among all, and of the first
  /// call site in the same line.
  struct PlaceKey {
    MetricPlace::Kind kind;
    int parent;
    uint32_t number;
    uint32_t site;
    auto operator<=>(const PlaceKey&) const = default;
  };

  /// One location while it is read.
  struct Location {
    MetricReader* all;
    int rank;
    std::vector<int> functions = {};   ///< places of the open ones
    int call = -1;                     ///< place of the open MPI call
    int depth = 0;                     ///< of MPI calls
    std::vector<double> last = {};     ///< values, NaN: none yet
    std::vector<double> pending = {};  ///< counted since the last record, outside functions
    bool any_pending = false;
    double time = 0;  ///< of the last METRIC record
    std::exception_ptr error = {};
  };

  std::string text(uint32_t ref) const {
    const auto place = definitions_->strings.find(ref);
    return place == definitions_->strings.end() ? "" : place->second;
  }

  int add_place(MetricPlace place) {
    found_.places.push_back(std::move(place));
    found_.counts.emplace_back(found_.ranks);
    return static_cast<int>(found_.places.size()) - 1;
  }

  /// The place with that key; a new one gets its name and site.
  int place_of(const PlaceKey& key) {
    const auto known = place_numbers_.find(key);
    if (known != place_numbers_.end()) return known->second;
    MetricPlace place{key.kind, key.parent, "", ""};
    const ArchiveIndex& index = archive_->index;
    if (key.kind == MetricPlace::Kind::kFunction) {
      place.name = key.number == kNoPlace ? "(unnamed function)"
                                          : index.functions[key.number].second.place();
    } else {
      place.name = archive_->definitions.calls[key.number].name;
    }
    if (key.site != kNoPlace) place.site = site_text(index.call_sites[key.site]);
    const int added = add_place(std::move(place));
    place_numbers_[key] = added;
    return added;
  }

  int place_of_function(int parent, uint32_t number) {
    return place_of({MetricPlace::Kind::kFunction, parent, number, kNoPlace});
  }

  /// The place of the function that contains a call site with a call path; -1: it has none.
  int place_of_path(uint32_t site) {
    if (site == kNoPlace) return -1;
    const auto known = places_of_paths_.find(site);
    if (known != places_of_paths_.end()) return known->second;
    const CallSite& own = archive_->index.call_sites[site];
    int place = place_of_path(own.caller);
    if (own.function != kNoPlace) place = place_of_function(place, own.function);
    return places_of_paths_[site] = place;
  }

  static std::string site_text(const CallSite& site) {
    const std::string file = site.file.substr(site.file.find_last_of('/') + 1);
    return site.line == 0 ? file : file + ":" + std::to_string(site.line);
  }

  bool is_mpi(uint32_t region) const {
    return archive_->index.call_of_region.get(region).value_or(ArchiveIndex::kNotMpi) !=
           ArchiveIndex::kNotMpi;
  }

  void add(int place, const Location& l, size_t metric, double count) {
    if (count == 0) return;
    auto& row = found_.counts[place][l.rank];
    if (row.empty()) row.resize(found_.metrics.size());
    row[metric] += count;
  }

  /// What was counted outside functions before a record, at `place`.
  void settle(Location& l, int place) {
    if (!l.any_pending) return;
    for (size_t i = 0; i < l.pending.size(); ++i) add(place, l, i, std::exchange(l.pending[i], 0));
    l.any_pending = false;
  }

  /// `site`: the line that makes a call, kNoPlace if it is not recorded. The function around a call
  /// is the innermost one that was entered; without one, that of the call path.
  void enter(Location& l, uint32_t region, uint32_t site) {
    const ArchiveIndex& index = archive_->index;
    const int open = l.functions.empty() ? -1 : l.functions.back();
    if (!is_mpi(region)) {
      settle(l, 0);
      l.functions.push_back(
          place_of_function(open, index.number_of_function.get(region).value_or(kNoPlace)));
      return;
    }
    if (l.depth++ > 0) return;
    const int parent = open != -1 ? open : place_of_path(site);
    const uint32_t line = site == kNoPlace ? site : first_in_line_[site];
    const auto call = static_cast<uint32_t>(*index.call_of_region.get(region));
    if (l.any_pending) settle(l, place_of({MetricPlace::Kind::kBefore, parent, call, line}));
    l.call = place_of({MetricPlace::Kind::kCall, parent, call, line});
  }

  void leave(Location& l, uint32_t region) {
    if (is_mpi(region)) {
      if (l.depth > 0) --l.depth;
      return;
    }
    settle(l, 0);
    if (!l.functions.empty()) l.functions.pop_back();
  }

  /// `count` of a metric belongs to the time from the last METRIC record up to `time`.
  void counted(Location& l, size_t metric, double count, double time) {
    if (l.depth > 0) return add(l.call, l, metric, count);
    if (!l.functions.empty()) {
      add(l.functions.back(), l, metric, count);
    } else if (count != 0) {
      l.pending[metric] += count;
      l.any_pending = true;
    }
    spread(l, metric, count, time);
  }

  /// Divides a count of the program evenly among the intervals of its time.
  void spread(const Location& l, size_t metric, double count, double time) {
    if (count == 0 || !(found_.seconds > 0)) return;
    std::vector<double>& all = found_.program[metric];
    if (all.empty()) all.resize(found_.ranks * Metrics::kIntervals);
    double* const row = all.data() + l.rank * Metrics::kIntervals;
    const auto place = [&](double t) {
      return std::clamp(t / found_.seconds, 0.0, double{Metrics::kIntervals});
    };
    const double first = place(l.time), last = place(time);
    const auto begin = std::min(static_cast<size_t>(first), Metrics::kIntervals - 1);
    const auto end = std::min(static_cast<size_t>(last), Metrics::kIntervals - 1);
    if (begin == end) {
      row[begin] += count;
      return;
    }
    for (size_t i = begin; i <= end; ++i) {
      const double part =
          std::min(last, static_cast<double>(i) + 1) - std::max(first, static_cast<double>(i));
      row[i] += count * part / (last - first);
    }
  }

  void gauge(const Location& l, size_t metric, double value) {
    GaugeValues& all = found_.gauges[metric * found_.ranks + l.rank];
    all.least = all.samples == 0 ? value : std::min(all.least, value);
    all.most = all.samples == 0 ? value : std::max(all.most, value);
    all.sum += value;
    ++all.samples;
  }

  void sample(Location& l, double time, uint32_t ref, uint8_t count, const OTF2_Type* types,
              const OTF2_MetricValue* values) {
    const auto members = definitions_->classes.find(ref);
    if (members == definitions_->classes.end()) return;
    for (size_t i = 0; i < std::min<size_t>(count, members->second.size()); ++i) {
      const auto known = number_.find(members->second[i]);
      if (known == number_.end()) continue;
      const size_t metric = known->second;
      const double value = scale_[metric] * (types[i] == OTF2_TYPE_DOUBLE ? values[i].floating_point
                                             : types[i] == OTF2_TYPE_INT64
                                                 ? static_cast<double>(values[i].signed_int)
                                                 : static_cast<double>(values[i].unsigned_int));
      gauge(l, metric, value);
      const double last = std::exchange(l.last[metric], value);
      switch (values_[metric]) {
        case Values::kTotal:
          if (std::isnan(last)) break;
          if (value < last) found_.metrics[metric].adds_up = false;
          counted(l, metric, value - last, time);
          break;
        case Values::kCountBefore:
          counted(l, metric, value, time);
          break;
        case Values::kCountAfter:
          if (!std::isnan(last)) counted(l, metric, last, time);
          break;
        case Values::kGauge:
          break;
      }
    }
    l.time = time;
  }

  double seconds(OTF2_TimeStamp time) const {
    return static_cast<double>(static_cast<int64_t>(time - archive_->index.global_offset)) /
           static_cast<double>(definitions_->resolution);
  }

  static OTF2_CallbackCode on_enter(OTF2_LocationRef, OTF2_TimeStamp, uint64_t, void* user,
                                    OTF2_AttributeList* attributes, OTF2_RegionRef region) {
    return guarded<Location>(user, [&](Location& l) {
      l.all->enter(l, region, call_site_of(l.all->archive_->index, attributes));
    });
  }
  static OTF2_CallbackCode on_leave(OTF2_LocationRef, OTF2_TimeStamp, uint64_t, void* user,
                                    OTF2_AttributeList*, OTF2_RegionRef region) {
    return guarded<Location>(user, [&](Location& l) { l.all->leave(l, region); });
  }
  static OTF2_CallbackCode on_metric(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* user,
                                     OTF2_AttributeList*, OTF2_MetricRef metric, uint8_t count,
                                     const OTF2_Type* types, const OTF2_MetricValue* values) {
    return guarded<Location>(user, [&](Location& l) {
      l.all->sample(l, l.all->seconds(time), metric, count, types, values);
    });
  }

  Archive* archive_;
  const MetricDefinitions* definitions_;
  bool ignore_offsets_;
  Metrics found_;
  std::unordered_map<uint32_t, size_t> number_;  ///< of a member
  std::vector<Values> values_;
  std::vector<double> scale_;
  std::map<PlaceKey, int> place_numbers_;
  std::unordered_map<uint32_t, int> places_of_paths_;  ///< by call site
  std::vector<uint32_t> first_in_line_;                ///< likewise: the first one in the same line
};

Metrics MetricReader::read(OTF2_Reader* reader) {
  const TraceDefinitions& trace = archive_->definitions;
  std::map<uint64_t, int> rank_of;  // by location
  for (int rank = 0; rank < trace.ranks(); ++rank) {
    for (const int timeline : trace.timelines_of(rank)) rank_of[trace.location_of(timeline)] = rank;
  }
  for (const SideLocation& side : trace.side_locations) rank_of[side.id] = side.rank;
  std::vector<uint64_t> locations;
  for (const auto& [location, rank] : rank_of) {
    locations.push_back(location);
    OTF2_Reader_SelectLocation(reader, location);
  }
  const auto local = read_local_definitions(*archive_, reader, locations);
  if (OTF2_Reader_OpenEvtFiles(reader) != OTF2_SUCCESS)
    throw InputError(archive_->anchor + ": the event files beside it cannot be opened");
  const std::unique_ptr<OTF2_EvtReaderCallbacks, decltype(&OTF2_EvtReaderCallbacks_Delete)>
      callbacks(OTF2_EvtReaderCallbacks_New(), OTF2_EvtReaderCallbacks_Delete);
  OTF2_EvtReaderCallbacks_SetEnterCallback(callbacks.get(), on_enter);
  OTF2_EvtReaderCallbacks_SetLeaveCallback(callbacks.get(), on_leave);
  OTF2_EvtReaderCallbacks_SetMetricCallback(callbacks.get(), on_metric);
  for (const auto& [id, rank] : rank_of) {
    if (archive_->index.events_of(id) == 0) continue;
    const NowReading reading(archive_->anchor, id);
    OTF2_EvtReader* events = OTF2_Reader_GetEvtReader(reader, id);
    if (!events) continue;  // the replay reports it
    const auto found = local.find(id);
    const LocalDefinitions own = found == local.end() ? LocalDefinitions() : found->second;
    OTF2_EvtReader_ApplyMappingTables(events, own.mappings);
    OTF2_EvtReader_ApplyClockOffsets(events, own.clock_offsets && !ignore_offsets_);
    Location location{this, rank};
    location.last.assign(found_.metrics.size(), std::numeric_limits<double>::quiet_NaN());
    location.pending.assign(found_.metrics.size(), 0);
    OTF2_Reader_RegisterEvtCallbacks(reader, events, callbacks.get(), &location);
    uint64_t read = 0;
    OTF2_Reader_ReadAllLocalEvents(reader, events, &read);
    if (location.error) std::rethrow_exception(location.error);
    settle(location, 0);
    OTF2_Reader_CloseEvtReader(reader, events);
  }
  OTF2_Reader_CloseEvtFiles(reader);
  return std::move(found_);
}

}  // namespace

double Metrics::sum(size_t metric, int rank, bool in_mpi) const {
  double all = 0;
  for (size_t place = 0; place < places.size(); ++place) {
    if (places[place].in_mpi() == in_mpi) all += count(place, rank, metric);
  }
  return all;
}

double Metrics::sum_at(size_t place, size_t metric) const {
  double all = 0;
  for (int rank = 0; rank < ranks; ++rank) all += count(place, rank, metric);
  return all;
}

namespace {

/// A place without the functions around it.
std::string text_of(const MetricPlace& place) {
  if (place.kind == MetricPlace::Kind::kProgram) return "outside of functions";
  return (place.kind == MetricPlace::Kind::kBefore ? "before " : "") + place.name +
         (place.site.empty() ? "" : " (" + place.site + ")");
}

}  // namespace

std::string Metrics::path_of(size_t place) const {
  const MetricPlace& own = places[place];
  return own.parent < 0 ? text_of(own) : path_of(own.parent) + " > " + text_of(own);
}

std::string Metrics::name_of(size_t place) const {
  const MetricPlace& own = places[place];
  if (own.kind == MetricPlace::Kind::kFunction || own.parent < 0) return text_of(own);
  return text_of(places[own.parent]) + " > " + text_of(own);
}

Metrics read_metrics(const std::string& path, bool ignore_offsets) {
  const std::string anchor = find_anchor(path);
  const EventFiles::Reader reader = EventFiles::open_anchor(anchor);
  const MetricDefinitions definitions = read_metric_definitions(anchor, reader.get());
  if (definitions.members.empty()) return {};
  const EventFiles::Reader another = EventFiles::open_anchor(anchor);
  Archive archive = read_definitions(anchor, another.get());
  return MetricReader(archive, definitions, ignore_offsets).read(reader.get());
}

}  // namespace rubato
