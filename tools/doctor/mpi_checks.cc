#include <dlfcn.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "models/base/error.h"
#include "replay/cluster/transport.h"
#include "tools/cli/install_paths.h"
#include "tools/doctor/checks.h"
#include "tools/launch/child.h"
#include "tools/launch/flavour.h"

namespace fs = std::filesystem;

namespace rubato {
namespace {

constexpr double kPatience = 60;  // seconds for one process of MPI
/// The mark of the line that the started process prints.
const std::string kAnswer = "rubato doctor: ";

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

/// The files of this installation for one MPI library.
struct Parts {
  std::string tracer, transport, calibrator;
};
Parts parts_of(const std::string& flavour) {
  return {library_dir() + "/librubato-trace-" + flavour + ".so",
          library_dir() + "/librubato-mpi-" + flavour + ".so",
          libexec_dir() + "/rubato-calibrate-" + flavour};
}

/// The MPI library of a mpirun, by its version.
Flavour flavour_of(const std::string& mpirun, const std::string& directory) {
  const std::string log = directory + "/version.txt";
  try {
    run_child({mpirun, "--version"}, log, [](double seconds) { return seconds > kPatience; });
  } catch (const InputError&) {
    return Flavour::kUnknown;
  }
  for (const std::string& line : lines_of(log)) {
    for (const char* word : {"Open MPI", "OpenRTE", "PRTE", "prte"}) {
      if (line.find(word) != std::string::npos) return Flavour::kOpenMpi;
    }
    for (const char* word : {"HYDRA", "MPICH", "Intel(R) MPI", "MVAPICH"}) {
      if (line.find(word) != std::string::npos) return Flavour::kMpich;
    }
  }
  return Flavour::kUnknown;
}

bool is_in_path(const std::string& program) {
  try {
    return !find_program(program).empty();
  } catch (const InputError&) {
    return false;
  }
}

/// The mpirun of an MPI library in PATH; "" without one.
std::string mpirun_of(Flavour flavour, const std::string& directory) {
  const std::string suffix = "." + flavour_name(flavour);
  for (const std::string& name :
       {"mpirun" + suffix, "mpiexec" + suffix, std::string("mpirun"), std::string("mpiexec")}) {
    if (!is_in_path(name)) continue;
    const std::string path = find_program(name);
    if (flavour_of(path, directory) == flavour) return path;
  }
  return "";
}

/// The first line of a log that is worth showing: an error, or else any.
std::string reason_in(const std::string& log) {
  std::string first;
  for (const std::string& line : lines_of(log)) {
    if (line.find_first_not_of(" -=\t") == std::string::npos) continue;
    if (line.find("rror") != std::string::npos) return line;
    if (first.empty()) first = line;
  }
  return first;
}

/// Traces one process. Returns the library that it uses; on failure throws InputError.
std::string answer_of(const std::string& mpirun, const std::string& flavour,
                      const std::string& directory) {
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  const std::string log = directory + "/" + flavour + ".txt";
  const std::string archive = directory + "/" + flavour + ".otf2dir";
  const ChildEnd end = run_child(
      {mpirun, "-n", "1", self, "trace", "-o", archive, self, "doctor", "answer", flavour}, log,
      [](double seconds) { return seconds > kPatience; });
  std::string library;
  for (const std::string& line : lines_of(log)) {
    if (const size_t at = line.find(kAnswer); at != std::string::npos)
      library = line.substr(at + kAnswer.size());
  }
  if (end.stopped)
    throw InputError(fmt::format("{} did not end within {:.0f} s", mpirun, kPatience));
  if (!end.fine() || library.empty())
    throw InputError(fmt::format("{} -n 1 {}: {}", mpirun, end.text(), reason_in(log)));
  std::error_code ignored;
  if (!fs::exists(archive + "/traces.otf2", ignored))
    throw InputError("the preloaded tracer recorded nothing: " + reason_in(log));
  return library;
}

Check check_of(Flavour flavour, const std::string& directory) {
  const std::string name = flavour_name(flavour), title = flavour_title(flavour);
  const Parts parts = parts_of(name);
  const std::string mpirun = mpirun_of(flavour, directory);
  const bool has_tracer = fs::exists(parts.tracer);
  if (!has_tracer && mpirun.empty()) return {};
  Check check{title, Check::kFail, "", ""};
  if (!has_tracer) {
    check.found = mpirun + ", but no tracer in " + library_dir();
    check.advice = fmt::format(
        "install the package rubato-{}, or build Rubato where the compiler wrapper of {} is", name,
        title);
    return check;
  }
  if (mpirun.empty()) {
    check.found = fmt::format("a tracer, but no mpirun of {} in PATH", title);
    if (is_in_path("srun")) {
      check.advice = "with 'srun rubato trace' none is needed";
    } else {
      check.state = Check::kFail;
      check.advice = "install it or load its module";
    }
    return check;
  }
  try {
    const std::string library = answer_of(mpirun, name, directory);
    check.found = fmt::format("{} starts a traced process of {}", mpirun, library);
    check.state = Check::kOk;
    if (!fs::exists(parts.calibrator)) {
      check.state = Check::kWarn;
      check.advice =
          fmt::format("'rubato calibrate' lacks {}; install Rubato again", parts.calibrator);
    }
  } catch (const InputError& error) {
    check.found = error.what();
    check.advice = fmt::format(
        "try '{} -n 1 rubato trace -o test.otf2dir PROGRAM' with a program of {}", mpirun, title);
  }
  return check;
}

}  // namespace

std::vector<Check> mpi_checks(const std::string& directory) {
  if (geteuid() == 0) {  // Open MPI refuses root otherwise.
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  }
  std::vector<Check> checks;
  bool any = false;  // works
  for (const Flavour flavour : {Flavour::kOpenMpi, Flavour::kMpich}) {
    Check check = check_of(flavour, directory);
    if (check.name.empty()) continue;
    any = any || check.state != Check::kFail;
    checks.push_back(std::move(check));
  }
  if (checks.empty())
    checks.push_back(
        {"MPI", Check::kFail, "neither a mpirun in PATH nor a tracer in " + library_dir(),
         "install Open MPI or MPICH and build Rubato, or install rubato-openmpi or rubato-mpich"});
  // The other library is enough.
  for (Check& check : checks) {
    if (any && check.state == Check::kFail) check.state = Check::kWarn;
  }
  return checks;
}

int answer_as_mpi_process(const std::string& flavour) {
  void* library = dlopen(parts_of(flavour).transport.c_str(), RTLD_NOW | RTLD_GLOBAL);
  void* make = library ? dlsym(library, "rubato_mpi_transport") : nullptr;
  if (!make) throw InputError(dlerror());
  const std::unique_ptr<Transport> transport(reinterpret_cast<Transport* (*)()>(make)());
  std::string version = flavour, file;
  // The tracer has no PMPI functions: this one is the library's.
  if (void* function = dlsym(RTLD_DEFAULT, "PMPI_Get_library_version")) {
    std::vector<char> text(1 << 14);  // more than MPI_MAX_LIBRARY_VERSION_STRING of any library
    int length = 0;
    reinterpret_cast<int (*)(char*, int*)>(function)(text.data(), &length);
    version = text.data();
    version = version.substr(0, version.find_first_of(",\n"));
    std::replace(version.begin(), version.end(), '\t', ' ');
    Dl_info info;
    if (dladdr(function, &info) && info.dli_fname) file = info.dli_fname;
  }
  transport->close();
  fmt::print("{}{} ({})\n", kAnswer, version, file);
  return 0;
}

}  // namespace rubato
