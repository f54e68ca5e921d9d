// A network for the laboratory: one TAP device in each of some network namespaces, and a switch
// between them that this process is.
//
//   switch --latency 50us --rate 5Gbit [--jitter 10us] [--mtu 9000] [--statistics FILE]
//          [--uplink 1Gbit --behind 2] PID...
//
// PID is a process in the namespace of a host; host k (from 1) gets a device eth0 with the
// address 10.78.0.k. Once all are there it prints "ready", and works until its standard input ends.
//
// The path of a frame of n bytes, read at time t from port i, for port j:
//
//   up    = max(t, up[i]) + n / rate           it has gone up the sender's link; frames for
//                                              different receivers take turns there, as under
//                                              Linux's default queue (fq_codel)
//   down  = max(up, down[j] + n / rate)        and down the receiver's, behind frames that came up
//   before; a link there = down + latency (+ jitter)          that is free passes it on as it comes
//   (cut-through): n / rate once
//
// With --uplink the first hosts (--behind) share one more link to all others, and one back: a frame
// that goes there has gone up its sender's link first, and takes turns with those of other senders
// or receivers. Nothing else passes it.
//
// A frame is written to port j then, in order. Queues are as long as they have to be, so that no
// frame is lost and TCP never takes a loss for congestion. (Kernels of small virtual machines lack
// netem, which could do most of this.)
//
// It runs at a real-time priority, so that it is on time whatever the programs do with the
// processors. A wakeup adds some 5 to 20 us to the latency, which a calibration of the network
// includes.
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using Nanoseconds = std::int64_t;

Nanoseconds now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * Nanoseconds{1'000'000'000} + t.tv_nsec;
}

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

struct Unit {
  std::string_view name;
  double factor;
};

/// A number with one of these units behind it.
double quantity(const std::string& text, const std::vector<Unit>& units) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  for (const Unit& unit : units)
    if (unit.name == end && number >= 0) return number * unit.factor;
  throw std::runtime_error("cannot read '" + text + "'");
}

double nanoseconds(const std::string& text) {
  return quantity(text, {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}});
}

double bits_per_second(const std::string& text) {
  return quantity(text, {{"bit", 1}, {"kbit", 1e3}, {"Mbit", 1e6}, {"Gbit", 1e9}});
}

struct Network {
  double latency = 50e3;      // ns
  double jitter = 0;          // ns; added evenly distributed between 0 and this
  double per_byte = 8.0 / 5;  // ns on each link
  int mtu = 9000;
  double uplink_per_byte = 0;  // ns; 0: there is none
  std::size_t behind = 0;      // hosts that have it
};

struct Frame {
  double at;  // ns: when it has gone up its sender's link; later, when it is due
  std::size_t from, to;
  std::vector<char> bytes;
};

/// A link in one direction, on which frames of several queues take turns.
struct Line {
  double per_byte = 0;                     // ns
  double until = 0;                        // when it is free again
  std::vector<std::deque<Frame>> waiting;  // by queue; `at`: when it came
  std::size_t turn = 0;                    // the queue that was served last
  std::deque<Frame> going;                 // by time

  bool has_waiting() const {
    return std::any_of(waiting.begin(), waiting.end(),
                       [](const auto& queue) { return !queue.empty(); });
  }
};

/// One host's link, and the frames that are on their way up it, and to it.
struct Port {
  int tap = -1;
  Line up;                              // a queue for each receiver
  double down_until = 0;                // when the link down is free again
  std::deque<Frame> coming;             // by time
  std::uint64_t frames = 0, bytes = 0;  // that came out of it
  double latest = 0;                    // how late a frame was written at most
};

std::string two_digits(int byte) {
  char text[8];
  std::snprintf(text, sizeof text, "%02x", static_cast<unsigned>(byte) & 255);
  return text;
}

/// The device eth0 in the namespace of that process; its end stays here when this process goes back
/// to its own.
int make_tap(const std::string& pid) {
  const int host = open(("/proc/" + pid + "/ns/net").c_str(), O_RDONLY | O_CLOEXEC);
  if (host < 0 || setns(host, CLONE_NEWNET) != 0) fail("the namespace of process " + pid);
  close(host);
  const int tap = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (tap < 0) fail("/dev/net/tun");
  ifreq request = {};
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  std::strcpy(request.ifr_name, "eth0");
  if (ioctl(tap, TUNSETIFF, &request) != 0) fail("a TAP device");
  return tap;
}

/// Brings the device up with static ARP entries, and configures TCP as on a long-lived connection:
/// no slow start, no pacing, windows that hold all data in flight. Runs in the host's namespace.
void configure(int host, int hosts, const Network& network) {
  const std::string hardware = " 02:00:00:00:00:";
  std::string script =
      "set -e; ip link set eth0 mtu " + std::to_string(network.mtu) + " txqueuelen 100000 address" +
      hardware + two_digits(host) + "; ip address add 10.78.0." + std::to_string(host) +
      "/24 dev eth0; cd /proc/sys/net; echo 1 >ipv6/conf/all/disable_ipv6 2>/dev/null || true; "
      "cd ipv4; echo 0 >tcp_slow_start_after_idle; echo 1 >tcp_no_metrics_save; "
      "echo reno >tcp_congestion_control; "
      "echo 65536 16777216 67108864 >tcp_rmem; echo 65536 16777216 67108864 >tcp_wmem; "
      "ip link set eth0 up; "
      "ip route change 10.78.0.0/24 dev eth0 initcwnd 10000 initrwnd 10000 quickack 1";
  for (int other = 1; other <= hosts; ++other)
    if (other != host)
      script += "; ip neighbour replace 10.78.0." + std::to_string(other) + " lladdr" + hardware +
                two_digits(other) + " dev eth0 nud permanent";
  if (std::system(script.c_str()) != 0)
    throw std::runtime_error("the device of host " + std::to_string(host));
}

class Switch {
 public:
  Switch(const Network& network, const std::vector<std::string>& hosts)
      : network_(network), ports_(hosts.size()) {
    for (Line& uplink : uplinks_) {
      uplink.per_byte = network.uplink_per_byte;
      uplink.waiting.resize(hosts.size() * hosts.size());  // a queue for each pair
    }
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      ports_[i].tap = make_tap(hosts[i]);
      ports_[i].up.per_byte = network.per_byte;
      ports_[i].up.waiting.resize(hosts.size());
      configure(static_cast<int>(i + 1), static_cast<int>(hosts.size()), network);
    }
  }

  /// Until standard input ends.
  void run() {
    std::vector<pollfd> waiting(ports_.size() + 1, {-1, POLLIN, 0});
    for (std::size_t i = 0; i < ports_.size(); ++i) waiting[i].fd = ports_[i].tap;
    waiting.back().fd = STDIN_FILENO;
    while (waiting.back().revents == 0) {
      for (Port& port : ports_) send(port.up);
      pass_on();
      for (Line& uplink : uplinks_) send(uplink);
      pass_on();
      deliver();
      const double next = next_event();
      const auto left = static_cast<Nanoseconds>(std::clamp(next - now(), 0.0, 1e9));
      const timespec timeout = {left / 1'000'000'000, left % 1'000'000'000};
      if (ppoll(waiting.data(), waiting.size(), next == kNever ? nullptr : &timeout, nullptr) < 0 &&
          errno != EINTR)
        fail("poll");
      for (std::size_t i = 0; i < ports_.size(); ++i)
        if (waiting[i].revents != 0) take(i);
    }
  }

  void print(std::FILE* file) const {
    for (const Port& port : ports_)
      std::fprintf(file, "%llu frames, %llu bytes, at most %.1f us late\n",
                   static_cast<unsigned long long>(port.frames),
                   static_cast<unsigned long long>(port.bytes), port.latest / 1e3);
  }

 private:
  static constexpr double kNever = 1e300;
  static constexpr int kAtOnce = 64;  // frames of a port, before others have their turn

  /// Nanoseconds of so many bytes on a link, with preamble, checksum and gap.
  static double on_wire(std::size_t bytes, double per_byte) {
    return static_cast<double>(bytes + 24) * per_byte;
  }

  /// Reads frames from a host. The last byte of the Ethernet address is the destination; there are
  /// no other stations.
  void take(std::size_t from) {
    for (int count = 0; count < kAtOnce; ++count) {
      const ssize_t length = read(ports_[from].tap, buffer_, sizeof buffer_);
      if (length < 14) return;
      const std::size_t to = static_cast<unsigned char>(buffer_[5]) - std::size_t{1};
      if (buffer_[0] != 2 || to >= ports_.size()) continue;
      ports_[from].up.waiting[to].push_back(
          {static_cast<double>(now()), from, to, {buffer_, buffer_ + length}});
    }
  }

  /// Puts frames on a link for as long as it is free. The answer to one receiver does not wait
  /// behind all that another one is sent.
  static void send(Line& line) {
    while (line.until <= now()) {
      std::size_t next = line.turn;
      for (std::size_t step = 1; step <= line.waiting.size(); ++step) {
        next = (line.turn + step) % line.waiting.size();
        if (!line.waiting[next].empty()) break;
      }
      std::deque<Frame>& queue = line.waiting[next];
      if (queue.empty()) return;
      Frame frame = std::move(queue.front());
      queue.pop_front();
      line.turn = next;
      line.until = std::max(frame.at, line.until) + on_wire(frame.bytes.size(), line.per_byte);
      frame.at = line.until;
      line.going.push_back(std::move(frame));
    }
  }

  /// Frames that have gone up go over the uplink if there is one on their way, and down their
  /// receiver's link, in the order in which they came up.
  void pass_on() {
    for (;;) {
      Line* first = nullptr;
      const auto look = [&](Line& line) {
        if (!line.going.empty() && (!first || line.going.front().at < first->going.front().at))
          first = &line;
      };
      for (Port& port : ports_) look(port.up);
      for (Line& uplink : uplinks_) look(uplink);
      if (!first || first->going.front().at > now()) return;
      Frame frame = std::move(first->going.front());
      first->going.pop_front();
      const bool is_behind = frame.from < network_.behind;
      const bool went_over = first == &uplinks_[0] || first == &uplinks_[1];
      if (!went_over && is_behind != (frame.to < network_.behind)) {
        Line& uplink = uplinks_[is_behind ? 0 : 1];
        uplink.waiting[frame.from * ports_.size() + frame.to].push_back(std::move(frame));
      } else {
        go_down(std::move(frame));
      }
    }
  }

  void go_down(Frame frame) {
    Port& to = ports_[frame.to];
    to.down_until =
        std::max(frame.at, to.down_until + on_wire(frame.bytes.size(), network_.per_byte));
    const double extra =
        network_.jitter > 0 ? std::uniform_real_distribution<>(0, network_.jitter)(random_) : 0;
    frame.at = to.down_until + network_.latency + extra;
    if (!to.coming.empty()) frame.at = std::max(frame.at, to.coming.back().at);
    to.coming.push_back(std::move(frame));
  }

  /// Writes what is due.
  void deliver() {
    for (Port& port : ports_)
      while (!port.coming.empty()) {
        const double late = now() - port.coming.front().at;
        if (late < 0) break;
        const Frame& frame = port.coming.front();
        if (write(port.tap, frame.bytes.data(), frame.bytes.size()) < 0) fail("a frame is lost");
        ++port.frames;
        port.bytes += frame.bytes.size();
        port.latest = std::max(port.latest, late);
        port.coming.pop_front();
      }
  }

  double next_event() const {
    double next = kNever;
    const auto look = [&](const Line& line) {
      if (line.has_waiting()) next = std::min(next, line.until);
      if (!line.going.empty()) next = std::min(next, line.going.front().at);
    };
    for (const Line& uplink : uplinks_) look(uplink);
    for (const Port& port : ports_) {
      look(port.up);
      if (!port.coming.empty()) next = std::min(next, port.coming.front().at);
    }
    return next;
  }

  Network network_;
  std::vector<Port> ports_;
  Line uplinks_[2];  // from those behind to the others, and back
  std::mt19937 random_{1};
  char buffer_[65536 + 64];
};

int run(int argc, char** argv) {
  Network network;
  std::string statistics;
  int i = 1;
  for (; i + 1 < argc && std::string_view(argv[i]).substr(0, 2) == "--"; i += 2) {
    const std::string key = argv[i], value = argv[i + 1];
    if (key == "--latency")
      network.latency = nanoseconds(value);
    else if (key == "--jitter")
      network.jitter = nanoseconds(value);
    else if (key == "--rate")
      network.per_byte = 8e9 / bits_per_second(value);
    else if (key == "--mtu")
      network.mtu = std::atoi(value.c_str());
    else if (key == "--uplink")
      network.uplink_per_byte = 8e9 / bits_per_second(value);
    else if (key == "--behind")
      network.behind = static_cast<std::size_t>(std::atoi(value.c_str()));
    else if (key == "--statistics")
      statistics = value;
    else
      throw std::runtime_error("what is " + key + "?");
  }
  if ((network.uplink_per_byte > 0) != (network.behind > 0))
    throw std::runtime_error("--uplink and --behind belong together");
  const std::vector<std::string> hosts(argv + i, argv + argc);
  if (hosts.size() < 2 || hosts.size() > 250) throw std::runtime_error("needs 2 to 250 processes");
  Switch between(network, hosts);
  const sched_param priority = {.sched_priority = 50};
  if (sched_setscheduler(0, SCHED_FIFO, &priority) != 0) fail("real-time priority");
  if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) fail("memory that stays");
  std::puts("ready");
  std::fflush(stdout);
  between.run();
  if (std::FILE* file = statistics.empty() ? nullptr : std::fopen(statistics.c_str(), "w")) {
    between.print(file);
    std::fclose(file);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "switch: %s\n", error.what());
    return 1;
  }
}
