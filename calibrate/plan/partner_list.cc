#include "calibrate/plan/partner_list.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "models/base/error.h"

namespace rubato {

PartnerList read_partner_list(const std::string& file, int ranks) {
  const std::string rows = ",matrix_request,,";  // scenario, kind, name; then rank, peer
  std::ifstream stream(file);
  if (!stream) throw InputError(file + ": " + std::strerror(errno));
  PartnerList list;
  bool is_profile = false;
  int line = 0;
  for (std::string text; std::getline(stream, text);) {
    const std::string place = file + ":" + std::to_string(++line) + ": ";
    if (line == 1 && text.starts_with("scenario,kind,name,rank,peer,")) {
      is_profile = true;
      continue;
    }
    const size_t at = is_profile ? text.find(rows) : 0;
    if (text.empty() || text[0] == '#' || at == std::string::npos) continue;
    if (is_profile) {
      text.erase(0, at + rows.size());
      text.resize(std::min(text.size(), text.find(',', text.find(',') + 1)));
    }
    std::replace(text.begin(), text.end(), ',', ' ');
    std::istringstream numbers(text);
    int from = -1, to = -1;
    std::string rest;
    if (!(numbers >> from >> to) || numbers >> rest || from < 0 || to < 0)
      throw InputError(place + "must be the numbers of two ranks, the sender and the receiver");
    if (std::max(from, to) >= ranks) {
      throw InputError(place + "there is no rank " + std::to_string(std::max(from, to)) + " of " +
                       std::to_string(ranks) + "; start calibrate with as many ranks as the " +
                       "program had");
    }
    list.emplace_back(from, to);
  }
  if (list.empty()) {
    throw InputError(file + ": no ranks that exchange messages; is this a file that 'rubato " +
                     "profile --csv' wrote?");
  }
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

}  // namespace rubato
