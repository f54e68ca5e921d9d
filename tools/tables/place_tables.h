#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "replay/analyse/place_summary.h"

namespace rubato {

/// "MPI_Recv in exchange (app.c:41)"; for compute "solve (app.c:12)", or "before MPI_Recv
/// (app.c:41)" outside of functions.
std::string place_text(const NamedPlace& place);

/// With the whole call path: "main (app.c:60) > exchange (app.c:41) > MPI_Recv".
std::string path_text(const NamedPlace& place);

/// "solve (app.c:12)", or "outside of functions".
std::string function_text(const FunctionEfficiency& function);

/// Tables for a terminal: waits by place with their main cause, root causes by call path,
/// those of at least 0.1 % of all waits, and efficiencies by function, if any.
std::string places_text(const PlaceSummary& summary, const std::string& scenario, int width);

/// The keys "list", "waits" and "causes" of "places", and "functions" (share/doc/profile.md).
nlohmann::ordered_json places_to_json(const PlaceSummary& summary);
nlohmann::ordered_json functions_to_json(const PlaceSummary& summary);

/// The same for the HTML page: the first rows of the tables of waits and of functions, and the
/// seconds of all waits.
nlohmann::ordered_json places_for_page(const PlaceSummary& summary);

}  // namespace rubato
