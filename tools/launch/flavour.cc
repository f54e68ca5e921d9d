#include "tools/launch/flavour.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "models/base/error.h"
#include "tools/cli/install_paths.h"

namespace fs = std::filesystem;

namespace rubato {
namespace {

bool has(const char* variable) {
  return std::getenv(variable) != nullptr;
}

/// The dynamic loader of an ELF program; "" for static programs and other files.
std::string interpreter(const std::string& program) {
  std::ifstream file(program, std::ios::binary);
  Elf64_Ehdr header;
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return "";
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return "";
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return "";
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    file.seekg(static_cast<std::streamoff>(header.e_phoff) + i * header.e_phentsize);
    if (!file.read(reinterpret_cast<char*>(&segment), sizeof segment)) return "";
    if (segment.p_type != PT_INTERP) continue;
    std::string path(segment.p_filesz, '\0');
    file.seekg(static_cast<std::streamoff>(segment.p_offset));
    if (!file.read(path.data(), static_cast<std::streamsize>(path.size()))) return "";
    return path.c_str();
  }
  return "";
}

/// The standard output of a command.
std::string output_of(const std::vector<std::string>& words) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return "";
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    const int null = open("/dev/null", O_WRONLY);
    if (null >= 0) dup2(null, STDERR_FILENO);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  ssize_t count;
  while (child > 0 && (count = read(ends[0], buffer, sizeof buffer)) > 0) {
    text.append(buffer, static_cast<size_t>(count));
  }
  close(ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  return text;
}

/// Identifies a libmpi by a symbol that only Open MPI has: file names and versions overlap.
Flavour library_flavour(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info;
  if (file < 0) return Flavour::kUnknown;
  Flavour flavour = Flavour::kUnknown;
  if (fstat(file, &info) == 0 && info.st_size > 0) {
    const auto size = static_cast<size_t>(info.st_size);
    void* bytes = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes != MAP_FAILED) {
      constexpr char kSymbol[] = "ompi_mpi_comm_world";
      flavour = memmem(bytes, size, kSymbol, sizeof kSymbol) != nullptr ? Flavour::kOpenMpi
                                                                        : Flavour::kMpich;
      munmap(bytes, size);
    }
  }
  close(file);
  return flavour;
}

std::string tracer_path(Flavour flavour) {
  return library_dir() + "/librubato-trace-" + flavour_name(flavour) + ".so";
}

}  // namespace

std::string flavour_name(Flavour flavour) {
  return flavour == Flavour::kOpenMpi ? "openmpi" : flavour == Flavour::kMpich ? "mpich" : "";
}

std::string flavour_title(Flavour flavour) {
  return flavour == Flavour::kOpenMpi ? "Open MPI"
         : flavour == Flavour::kMpich ? "MPICH"
                                      : "no MPI";
}

Flavour launcher_flavour() {
  if (has("OMPI_COMM_WORLD_RANK")) return Flavour::kOpenMpi;
  // Hydra and its relatives (Intel MPI, MVAPICH). Slurm's PMI-2 serves both.
  if (has("PMI_RANK") && (has("MPI_LOCALRANKID") || has("PMI_FD") || has("PMI_PORT"))) {
    return has("SLURM_PROCID") ? Flavour::kUnknown : Flavour::kMpich;
  }
  return Flavour::kUnknown;
}

Flavour likely_launcher_flavour() {
  const Flavour launcher = launcher_flavour();
  if (launcher != Flavour::kUnknown) return launcher;
  if (has("PMIX_RANK")) return Flavour::kOpenMpi;
  if (has("PMI_RANK")) return Flavour::kMpich;
  return Flavour::kUnknown;
}

std::string srun_that_joins(Flavour flavour) {
  const char* tasks = std::getenv("SLURM_STEP_NUM_TASKS");
  if (likely_launcher_flavour() != Flavour::kUnknown || !tasks || std::atoi(tasks) < 2) return "";
  switch (flavour) {
    case Flavour::kOpenMpi:
      return "srun --mpi=pmix";
    case Flavour::kMpich:
      return "srun --mpi=pmi2";
    default:
      return "srun --mpi=pmix (Open MPI) or --mpi=pmi2 (MPICH)";
  }
}

Flavour program_flavour(const std::string& program) {
  const std::string loader = interpreter(program);
  if (loader.empty()) return Flavour::kUnknown;
  // The loader's own list follows RPATH, LD_LIBRARY_PATH and libraries of libraries, without
  // running anything of the program. Lines read "libmpi.so.40 => /usr/lib/libmpi.so.40 (0x...)".
  std::istringstream lines(output_of({loader, "--list", program}));
  std::string line;
  while (std::getline(lines, line)) {
    const size_t arrow = line.find(" => ");
    if (arrow == std::string::npos) continue;
    const std::string path = line.substr(arrow + 4, line.rfind(" (") - arrow - 4);
    const std::string name = fs::path(path).filename().string();
    if (name.rfind("libmpi.so", 0) == 0 || name.rfind("libmpich.so", 0) == 0) {
      return library_flavour(path);
    }
  }
  return Flavour::kUnknown;
}

Flavour choose_flavour(const std::string& program) {
  const Flavour launcher = launcher_flavour();
  const Flavour linked = program_flavour(program);
  if (launcher != Flavour::kUnknown && linked != Flavour::kUnknown && launcher != linked) {
    throw InputError(fmt::format(
        "this job was started by the mpirun of {}, but {} uses {}; start it with mpirun.{}",
        flavour_title(launcher), program, flavour_title(linked), flavour_name(linked)));
  }
  if (linked != Flavour::kUnknown) return linked;
  if (launcher != Flavour::kUnknown) return launcher;
  return fs::exists(tracer_path(Flavour::kOpenMpi)) ? Flavour::kOpenMpi : Flavour::kMpich;
}

std::string find_program(const std::string& program) {
  const auto usable = [](const std::string& file) {
    std::error_code error;
    return fs::is_regular_file(file, error) && access(file.c_str(), X_OK) == 0;
  };
  if (program.find('/') != std::string::npos) {
    if (usable(program)) return program;
    std::error_code error;
    throw InputError(fs::exists(program, error)
                         ? fmt::format("{}: not a program that can be executed", program)
                         : fmt::format("{}: no such program", program));
  }
  const char* path = std::getenv("PATH");
  std::istringstream directories(path != nullptr ? path : "/bin:/usr/bin");
  std::string directory;
  while (std::getline(directories, directory, ':')) {
    const std::string file = (directory.empty() ? "." : directory) + "/" + program;
    if (usable(file)) return file;
  }
  throw InputError(fmt::format("{}: no such program in PATH", program));
}

}  // namespace rubato
