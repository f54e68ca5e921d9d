#include "simgrid_peer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include "replay/trace/collective_sizes.h"

namespace {

using namespace rubato;

[[noreturn]] void give_up(const std::string& what) {
  std::fprintf(stderr, "rubato-bench: %s\n", what.c_str());
  std::exit(1);
}

/// The lines of one rank.
class RankLines {
 public:
  RankLines(std::ostream& out, const TraceDefinitions& trace, int rank)
      : out_(out), trace_(trace), rank_(rank) {
    line() << "init\n";
  }

  void add(const Block& block) {
    for (const Call& call : block.calls) {
      // A host of 1 Gflop/s computes a nanosecond a flop.
      const double compute = (call.enter - left_) * 1e9 / trace_.ticks_per_second;
      if (call.role != CallRole::kBegin && compute > 0) line() << "compute " << compute << '\n';
      left_ = call.leave;
      bool waits = false;
      for (const Action& action : block.actions_of(call)) {
        if (action.kind == ActionKind::kWaitSend || action.kind == ActionKind::kWaitReceive)
          waits = true;
        else
          add(action);
      }
      if (waits) line() << "waitall 0\n";  // of all that are open, whatever is said here
      if (call.role == CallRole::kEnd) line() << "finalize\n";
    }
  }

 private:
  std::ostream& line() { return out_ << rank_ << ' '; }

  void add(const Action& action) {
    const char* prefix = action.flags & kBlocking ? "" : "i";
    switch (action.kind) {
      case ActionKind::kSend:
      case ActionKind::kPost:
        line() << prefix << (action.kind == ActionKind::kSend ? "send " : "recv ")
               << action.message.peer << ' ' << action.message.tag << ' ' << action.message.bytes
               << '\n';
        return;
      case ActionKind::kCollective: {
        const double bytes = payload_bytes(trace_, action, rank_);
        if (action.op == CollectiveOp::kAllreduce)
          line() << "allreduce " << bytes << " 0\n";
        else if (action.op == CollectiveOp::kAlltoall)
          line() << "alltoall " << bytes << ' ' << bytes << '\n';
        else
          give_up("SimGrid is not asked about " + name_of(action.op));
        return;
      }
      default:
        give_up("SimGrid is not asked about calls other than messages and collectives");
    }
  }

  std::ostream& out_;
  const TraceDefinitions& trace_;
  int rank_;
  double left_ = 0;
};

}  // namespace

bool simgrid_is_here() {
  std::istringstream path(std::getenv("PATH") ? std::getenv("PATH") : "");
  for (std::string directory; std::getline(path, directory, ':');) {
    if (access((directory + "/smpirun").c_str(), X_OK) == 0) return true;
  }
  return false;
}

void write_for_simgrid(EventSource& source, const std::string& directory) {
  const TraceDefinitions& trace = source.definitions();
  std::ofstream list(directory + "/list"), hosts(directory + "/hosts");
  for (int rank = 0; rank < trace.ranks(); ++rank) {
    const std::string name = directory + "/rank" + std::to_string(rank) + ".txt";
    list << name << '\n';
    hosts << "node" << rank << '\n';
    std::ofstream out(name);
    out.precision(12);
    RankLines lines(out, trace, rank);
    for (Block block; source.read(rank, block); block.clear()) lines.add(block);
    if (!out.flush()) give_up("cannot write " + name);
  }
  // In a SimGrid cluster all host links are shared; only the backbone can be FATPIPE.
  const std::string head =
      "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
      "<platform version=\"4.1\">\n<cluster id=\"cluster\" prefix=\"node\" suffix=\"\" "
      "radical=\"0-" +
      std::to_string(trace.ranks() - 1) + "\" speed=\"1Gf\" ";
  std::ofstream(directory + "/free.xml")
      << head << "bw=\"1e9GBps\" lat=\"0us\" bb_bw=\"1GBps\" bb_lat=\"1us\" "
      << "bb_sharing_policy=\"FATPIPE\"/>\n</platform>\n";
  const std::string width = std::to_string(below_tree(trace.ranks()));
  std::ofstream(directory + "/tree.xml")
      << head << "bw=\"1GBps\" lat=\"0us\" sharing_policy=\"SPLITDUPLEX\" topology=\"FAT_TREE\" "
      << "topo_parameters=\"2;" << width << "," << width << ";1," << below_tree(trace.ranks()) / 2
      << ";1,1\"/>\n</platform>\n";
  std::ofstream(directory + "/shared.xml") << head << "bw=\"1GBps\" lat=\"500ns\"/>\n</platform>\n";
}

int below_tree(int ranks) {
  int width = 1;
  while (width * width < ranks) width *= 2;
  return width;
}

void become_simgrid(const std::string& directory, int ranks, SimgridNetwork network) {
  const bool shared = network == SimgridNetwork::kShared;
  const char* const platform = shared                             ? "/shared.xml"
                               : network == SimgridNetwork::kTree ? "/tree.xml"
                                                                  : "/free.xml";
  std::vector<std::string> words = {"smpirun",
                                    "-np",
                                    std::to_string(ranks),
                                    "-platform",
                                    directory + platform,
                                    "-hostfile",
                                    directory + "/hosts",
                                    "-replay",
                                    directory + "/list",
                                    "--cfg=smpi/allreduce:rdb",
                                    "--log=root.thres:warning"};
  if (!shared) {
    for (const char* setting :
         {"network/model:CM02", "network/crosstraffic:no", "network/TCP-gamma:1e15",
          "surf/precision:1e-9", "smpi/async-small-thresh:65536",
          "smpi/send-is-detached-thresh:65536"})
      words.push_back(std::string("--cfg=") + setting);
  }
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int log = open((directory + "/log").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (log < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0 || chdir(directory.c_str()) != 0) _exit(1);
  execvp("smpirun", arguments.data());
  _exit(1);
}
