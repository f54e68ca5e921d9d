#pragma once

// The output of `rubato profile`: share/doc/profile.md. Scenarios are written one at a time, so
// that only one is in memory.

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "replay/analyse/scenario_profile.h"

namespace rubato {

/// Takes the next part of a text.
using TextSink = std::function<void(const std::string&)>;

/// The tables for a terminal.
std::string profile_text(const ScenarioProfile& profile, int width);
/// The elapsed time and the calls with most of it, a few lines.
std::string profile_summary(const ScenarioProfile& profile, int width);

/// A value per row, with its kind, name, rank, peer and size: values of one kind add up.
inline constexpr const char* kProfileCsvHeader = "scenario,kind,name,rank,peer,size,value\n";
void profile_csv(const ScenarioProfile& profile, const TextSink& write);
/// The row of a scenario of which only this is known.
std::string elapsed_csv(const std::string& scenario, double elapsed);

/// One JSON object: its head, then the scenarios, then its end with the archive, because only all
/// scenarios together give its complete summary (share/doc/schemas/profile.schema.json).
void profile_json_head(const TextSink& write);
/// `profile`: null where the scenario deadlocks.
void profile_json_scenario(const ScenarioResult& scenario, const ScenarioProfile* profile,
                           bool is_first, const TextSink& write);
/// `findings`: findings_to_json(); `networks`: network_table().json(), or null.
void profile_json_end(const TraceSummary& trace, const nlohmann::ordered_json& findings,
                      const nlohmann::ordered_json& counters,
                      const nlohmann::ordered_json& networks, const TextSink& write);

}  // namespace rubato
