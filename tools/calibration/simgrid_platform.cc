// The conversion of a curve to factors.
//
// In SimGrid a message of n bytes takes latency * lat-factor + (n + 16) / (bandwidth * bw-factor)
// on its route, with the factors of the piece that n + 16 falls into; 16 bytes are an envelope that
// SMPI adds. A segment of ours takes a + s n from size f on. So its piece begins at f + 16, and has
// the factors (a - 16 s) / latency and 1 / (s bandwidth): the sum is a + s n to the last digit.
//
// A latency factor cannot be negative. If a - 16 s is, the segment is cut into pieces in which the
// time per byte changes by at most kStep; each has that time per byte and no latency.
//
// From the first protocol other than eager on, senders wait (send-is-detached-thresh) and the data
// transfer starts when both sides are ready (async-small-thresh); SimGrid has one such size for all
// levels. Its request to send takes no time, while ours takes one trip, included in our T: the two
// agree if the receiver is ready first, as in a ping-pong.
#include "tools/calibration/simgrid_platform.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "models/base/error.h"
#include "models/base/units.h"
#include "tools/cli/terminal_text.h"

namespace rubato {
namespace {

constexpr double kEnvelope = 16;    // bytes
constexpr double kStep = 0.005;     // relative: half the tolerated error of 1 %
constexpr double kNever = 1 << 30;  // bytes; SimGrid's sizes are int
constexpr double kFast = 1e15;      // bytes per second, if a byte costs nothing

/// A range of sizes with SimGrid's parameters.
struct Piece {
  double from;  ///< the least size, envelope included
  double latency;
  double per_byte;
};

/// Cuts a segment that ends before `end` and has a negative latency.
void add_pieces(std::vector<Piece>& pieces, const Segment& segment, double end) {
  const double fixed = segment.intercept - kEnvelope * segment.per_byte;
  const auto time_per_byte = [&](double wire) {
    return std::max(0.0, segment.per_byte + fixed / wire);
  };
  double from = segment.from + kEnvelope;
  const double last = end + kEnvelope;
  // The time per byte is per_byte + fixed / wire; from `enough` on the second term is below kStep
  // of the first.
  const double enough = -fixed / (segment.per_byte * kStep);
  while (from < std::min(last, enough)) {
    // The size `to` at which the time per byte has grown by kStep: per_byte + fixed / to = (1 +
    // kStep) * time_per_byte(from).
    const double wanted = (1 + kStep) * time_per_byte(from);
    double to = wanted < segment.per_byte ? fixed / (wanted - segment.per_byte) : enough;
    to = std::clamp(std::floor(to), from + 1, std::max(from + 1, std::min(last, enough)));
    pieces.push_back({from, 0, time_per_byte(std::sqrt(from * to))});
    from = to;
  }
  if (from < last) pieces.push_back({from, 0, segment.per_byte});
}

double eager_limit(const LevelModel& level) {
  for (const ProtocolSegment& segment : level.protocols) {
    if (segment.protocol != Protocol::kEager) return segment.from;
  }
  return kNever;
}

/// T, with the overheads added from the eager limit on.
std::vector<Segment> with_overheads(const LevelModel& level) {
  if (level.transfer.empty()) return {};
  const double limit = eager_limit(level);
  std::set<double> starts;
  if (limit < kNever) starts.insert(limit);
  for (const TransferCurve* curve :
       {&level.transfer, &level.send_overhead, &level.receive_overhead}) {
    for (const Segment& segment : curve->segments()) {
      if (curve == &level.transfer || segment.from > limit) starts.insert(segment.from);
    }
  }
  std::vector<Segment> segments;
  for (const double from : starts) {
    Segment sum = level.transfer.segment_at(from);
    sum.from = from;
    for (const TransferCurve* curve : {&level.send_overhead, &level.receive_overhead}) {
      if (from < limit || curve->empty()) continue;
      sum.intercept += curve->segment_at(from).intercept;
      sum.per_byte += curve->segment_at(from).per_byte;
    }
    segments.push_back(sum);
  }
  return segments;
}

std::vector<Piece> pieces_of(const LevelModel& level) {
  std::vector<Piece> pieces;
  const std::vector<Segment> segments = with_overheads(level);
  for (size_t i = 0; i < segments.size(); ++i) {
    const Segment& segment = segments[i];
    const double fixed = segment.intercept - kEnvelope * segment.per_byte;
    if (fixed >= 0 || segment.per_byte == 0)
      pieces.push_back({segment.from + kEnvelope, std::max(0.0, fixed), segment.per_byte});
    else
      add_pieces(pieces, segment, i + 1 < segments.size() ? segments[i + 1].from : HUGE_VAL);
  }
  if (pieces.empty()) pieces.push_back({0, 0, 0});
  pieces.front().from = 0;
  return pieces;
}

/// "0:1;16400:5.78"
template <typename Factor>
std::string factors(const std::vector<Piece>& pieces, Factor factor) {
  std::string text;
  for (const Piece& piece : pieces)
    text += fmt::format("{}{:.0f}:{:.9g}", text.empty() ? "" : ";", std::max(0.0, piece.from - 1),
                        factor(piece));
  return text;
}

/// "0:5e-08:0;4096:1e-07:2e-11": seconds, and seconds per byte.
std::string overheads(const TransferCurve& curve) {
  std::string text;
  for (const Segment& segment : curve.segments()) {
    text += fmt::format("{}{:.0f}:{:.9g}:{:.9g}", text.empty() ? "" : ";", segment.from,
                        segment.intercept, segment.per_byte);
  }
  return text.empty() ? "0:0:0" : text;
}

double bandwidth(double per_byte) {
  return per_byte > 0 ? 1 / per_byte : kFast;
}

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : one_line(text)) {
    // XML comments must not contain "--".
    if (c == '-' && !safe.empty() && safe.back() == '-') safe += ' ';
    safe += c;
  }
  return safe;
}

}  // namespace

std::string simgrid_platform(const Platform& platform, int nodes) {
  if (!platform.level(Level::kNetwork)) {
    throw InputError(
        "no [level.network], which SimGrid needs for messages between hosts; add it to the file");
  }
  const LevelModel& network = *platform.level(Level::kNetwork);
  const std::vector<Piece> pieces = pieces_of(network);
  const double latency = pieces.front().latency > 0 ? pieces.front().latency : 1e-6;
  const double rate = bandwidth(pieces.back().per_byte);
  const LevelModel* inside_node = &network;
  for (const Level level : {Level::kSocket, Level::kNode}) {
    if (platform.level(level)) inside_node = &*platform.level(level);
  }
  const std::vector<Piece> inside = pieces_of(*inside_node);

  std::string text = "<?xml version='1.0'?>\n";
  text += "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n";
  text += fmt::format("<!-- {}: made by rubato export. For SimGrid's network model SMPI. -->\n",
                      escaped(platform.name));
  text += "<platform version=\"4.1\">\n  <config>\n";
  const auto setting = [&](const std::string& key, const std::string& value) {
    text += fmt::format("    <prop id=\"{}\" value=\"{}\"/>\n", key, value);
  };
  setting("smpi/lat-factor", factors(pieces, [&](const Piece& p) { return p.latency / latency; }));
  setting("smpi/bw-factor",
          factors(pieces, [&](const Piece& p) { return bandwidth(p.per_byte) / rate; }));
  setting("smpi/os", overheads(network.send_overhead));
  setting("smpi/ois", overheads(network.send_overhead));
  setting("smpi/or", overheads(network.receive_overhead));
  const std::string limit = fmt::format("{:.0f}", eager_limit(network));
  setting("smpi/async-small-thresh", limit);
  setting("smpi/send-is-detached-thresh", limit);
  // Measured curves already include these effects.
  setting("network/TCP-gamma", "0");
  setting("network/weight-S", "0");
  setting("network/crosstraffic", "0");
  text += "  </config>\n";
  // A message passes the links of its sender and its receiver, each with half the latency. Each
  // link transfers one message at a time per direction.
  text += fmt::format(
      "  <cluster id=\"cluster\" prefix=\"node\" suffix=\"\" radical=\"0-{}\" speed=\"1Gf\"\n"
      "           bw=\"{:.9g}Bps\" lat=\"{:.9g}s\" sharing_policy=\"SPLITDUPLEX\"\n"
      "           loopback_bw=\"{:.9g}Bps\" loopback_lat=\"{:.9g}s\"/>\n",
      nodes - 1, rate, latency / 2, bandwidth(inside.back().per_byte), inside.front().latency);
  return text + "</platform>\n";
}

}  // namespace rubato
