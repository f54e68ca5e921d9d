#include "tracer/base/launcher.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

namespace rubato {
inline namespace tracing {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// The process at the other end of the socket that hydra gives each rank; it need not be the
/// parent, which may be a shell. 0 where there is none.
pid_t hydra_proxy() {
  const std::string socket = variable("PMI_FD");
  if (socket.empty()) return 0;
  ucred peer{};
  socklen_t length = sizeof peer;
  if (getsockopt(std::atoi(socket.c_str()), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return 0;
  return peer.pid;
}

/// "HOST:PORT.GROUP" of hydra's launcher: its processes on all nodes have these options.
std::string hydra_job() {
  const pid_t proxy = hydra_proxy();
  if (proxy <= 0) return "";
  std::string port, group;
  const std::vector<std::string> words = words_of_process(std::to_string(proxy));
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "--control-port") port = words[i + 1];
    if (words[i] == "--pgid") group = words[i + 1];
  }
  return port.empty() ? "" : port + "." + group;
}

bool has_open(const std::string& process, const std::string& file) {
  DIR* directory = opendir(("/proc/" + process + "/fd").c_str());
  if (directory == nullptr) return false;
  bool found = false;
  while (const dirent* entry = readdir(directory)) {
    if (entry->d_name[0] != '.' && file_behind(process, entry->d_name) == file) found = true;
  }
  closedir(directory);
  return found;
}

int open_stderr(const std::string& process) {
  const std::string name = "/proc/" + process + "/fd/2";
  return open(name.c_str(), O_WRONLY | O_APPEND | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
}

}  // namespace

std::vector<std::string> words_of_process(const std::string& process) {
  std::ifstream file("/proc/" + process + "/cmdline", std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size(); at = text.find('\0', at) + 1) {
    words.emplace_back(text.c_str() + at);
    if (text.find('\0', at) == std::string::npos) break;
  }
  return words;
}

std::string file_behind(const std::string& process, const std::string& descriptor) {
  char text[PATH_MAX];
  const std::string name = "/proc/" + process + "/fd/" + descriptor;
  const ssize_t length = readlink(name.c_str(), text, sizeof text);
  return length > 0 ? std::string(text, static_cast<size_t>(length)) : "";
}

int launcher_rank() {
  // The last three: Flux, Cray's aprun, Cray's PALS.
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID",
                           "FLUX_TASK_RANK", "ALPS_APP_PE", "PALS_RANKID"}) {
    if (const char* rank = std::getenv(name)) return std::atoi(rank);
  }
  return 0;
}

std::string launched_as() {
  // First hydra: its processes inherit the variables of a launcher around it.
  if (const std::string job = hydra_job(); !job.empty()) return "hydra=" + job;
  for (const char* name : {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "PMI_JOBID"}) {
    if (const std::string value = variable(name); !value.empty()) {
      return std::string(name) + "=" + value;
    }
  }
  const std::string job = variable("SLURM_JOB_ID"), step = variable("SLURM_STEP_ID");
  if (!job.empty() && !step.empty()) return "SLURM=" + job + "." + step;
  const std::string batch = variable("PBS_JOBID");
  return batch.empty() ? "-" : "PBS_JOBID=" + batch;
}

int hydra_stderr() {
  if (hydra_job().empty()) return -1;
  const std::string proxy = std::to_string(hydra_proxy());
  const std::string own = file_behind("self", "2");
  if (own.rfind("pipe:", 0) != 0 || !has_open(proxy, own)) return -1;
  return open_stderr(proxy);
}

int hydra_mpiexec_stderr() {
  if (hydra_job().empty()) return -1;
  std::ifstream file("/proc/" + std::to_string(hydra_proxy()) + "/status");
  for (std::string word; file >> word;) {
    if (word == "PPid:" && file >> word) return open_stderr(word);
  }
  return -1;
}

bool process_has(const std::string& process, const std::string& entry) {
  std::ifstream file("/proc/" + process + "/environ", std::ios::binary);
  for (std::string found; std::getline(file, found, '\0');) {
    if (found == entry) return true;
  }
  return false;
}

bool other_process_has(const std::string& entry, const std::string& standard_error) {
  std::error_code ended;  // a process may end meanwhile
  for (auto each = std::filesystem::directory_iterator("/proc", ended);
       !ended && each != std::filesystem::end(each); each.increment(ended)) {
    const std::string process = each->path().filename();
    const int pid = std::atoi(process.c_str());
    if (pid > 0 && pid != getpid() && process_has(process, entry) &&
        file_behind(process, "2") == standard_error)
      return true;
  }
  return false;
}

}  // namespace tracing
}  // namespace rubato
