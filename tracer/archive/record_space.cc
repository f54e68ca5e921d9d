#include "tracer/archive/record_space.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>

#include "tracer/archive/archive_files.h"
#include "tracer/base/file_limit.h"
#include "tracer/base/launcher.h"
#include "tracer/base/output_name.h"
#include "tracer/base/report_line.h"
#include "tracer/base/warnings.h"
#include "tracer/mpi/gather.h"

/// Records belong on a fast disk of the node itself, best in memory: writing to a mapped file on a
/// busy disk stalls for milliseconds, on a file system over a network for longer. /dev/shm is such
/// memory; it is often small in containers, so it is used only if it has 64 MiB free. It is not the
/// program's own memory: files there survive the process until `rubato recover` removes them.
namespace rubato {
inline namespace tracing {
namespace {

constexpr long kTmpfsMagic = 0x01021994;
constexpr uint64_t kFreeMemoryNeeded = uint64_t{64} << 20;

bool in_memory(const std::string& directory) {
  struct statfs info;
  return statfs(directory.c_str(), &info) == 0 && info.f_type == kTmpfsMagic;
}

/// The default directory for records.
std::string default_place() {
  struct statfs info;
  if (statfs("/dev/shm", &info) == 0 && access("/dev/shm", W_OK | X_OK) == 0 &&
      static_cast<uint64_t>(info.f_bavail) * static_cast<uint64_t>(info.f_bsize) >=
          kFreeMemoryNeeded) {
    return "/dev/shm";
  }
  const char* temporary = std::getenv("TMPDIR");
  return temporary != nullptr && *temporary != '\0' ? temporary : "/tmp";
}

/// Creates the directory that the ranks of a node share; false if it is not this user's alone.
bool make_private(const std::string& directory) {
  struct stat info;
  return (mkdir(directory.c_str(), 0700) == 0 || errno == EEXIST) &&
         lstat(directory.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
         info.st_uid == geteuid() && (info.st_mode & 077) == 0;
}

std::string note_in(const std::string& directory) {
  return directory + "/" + kIncomplete;
}

/// The beginning of INCOMPLETE in `directory`, which will be called `output`. Fails if the file
/// exists: in a directory that others may write to, it may be a link to another file of this user.
FILE* begin_note(const std::string& directory, const std::string& output, int size) {
  const int descriptor =
      open(note_in(directory).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  FILE* file = descriptor < 0 ? nullptr : fdopen(descriptor, "w");
  if (file == nullptr && descriptor >= 0) close(descriptor);
  if (file == nullptr) return nullptr;
  std::fprintf(file,
               "This is no archive yet: its program still runs, or ended without MPI_Finalize, or "
               "the disk was full.\nTo make an archive of what was recorded: rubato recover %s\n\n"
               "ranks %d\n",
               shell_word(output).c_str(), size);
  return file;
}

/// Rank 0: a note for the user and `rubato recover` with the places of the records.
void write_note(const std::string& output, int size, const std::vector<std::string>& places) {
  FILE* file = begin_note(output, output, size);
  if (file == nullptr) return;
  std::map<std::string, std::string> ranks_at;
  for (size_t rank = 0; rank < places.size(); ++rank) {
    ranks_at[places[rank]] += " " + std::to_string(rank);
  }
  for (const auto& [place, ranks] : ranks_at) {
    std::fprintf(file, "records %s:%s\n", place.c_str(), ranks.c_str());
  }
  std::fclose(file);
}

/// Where this process puts the records of a job; the names of different users differ.
std::string record_directory(const Settings& settings, uint64_t job) {
  char name[64];
  std::snprintf(name, sizeof name, "/rubato-%u-%012llx", geteuid(),
                static_cast<unsigned long long>(job));
  return (settings.records.empty() ? default_place() : settings.records) + name;
}

/// 48 bits that no other job has. Times and process ids recur, in containers and with faketime.
uint64_t random_job() {
  uint64_t number = 0;
  if (getrandom(&number, sizeof number, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof number)) {
    timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    const auto nanoseconds =
        static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
    number = nanoseconds * 0x9e3779b97f4a7c15u ^ static_cast<uint64_t>(getpid());
  }
  number >>= 16;
  return number == 0 ? 1 : number;
}

/// The number of a new job, for which no records exist here.
uint64_t new_job(const Settings& settings) {
  uint64_t job = random_job();
  for (int attempt = 0; attempt < 100 && is_taken(record_directory(settings, job)); ++attempt) {
    job = random_job() + static_cast<uint64_t>(attempt);
  }
  return job;
}

constexpr char kJobLine[] = "job of sessions ";
constexpr char kLauncherLine[] = "launched as ";

/// Creates a directory beside `output` under an unpredictable name; "" and errno on failure.
std::string make_beside(const std::string& output, int rank) {
  uint64_t number = random_job() ^ static_cast<uint64_t>(rank) << 40;
  for (int attempt = 0; attempt < 100; ++attempt) {
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) < 0) ++number;
    char text[32];
    std::snprintf(text, sizeof text, ".new-%016llx", static_cast<unsigned long long>(number));
    const std::string fresh = output + text;
    if (mkdir(fresh.c_str(), 0777) == 0) return fresh;
    if (errno != EEXIST) break;
  }
  return "";
}

/// Renames a directory, if the new name is free.
bool name_directory(const std::string& from, const std::string& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  // Without RENAME_NOREPLACE, rename() replaces an empty directory.
  return (errno == EINVAL || errno == ENOSYS) && rename(from.c_str(), to.c_str()) == 0;
}

/// Creates the directory of the archive with a note that has the number of the job. Other ranks see
/// both at once. False, and errno, if it exists already or cannot be created.
bool make_with_job(const std::string& output, uint64_t job, int rank, int size) {
  const std::string fresh = make_beside(output, rank);
  if (fresh.empty()) return false;
  int error = 0;
  if (FILE* file = begin_note(fresh, output, size)) {
    std::fprintf(file, "%s%llu\n%s%s\n", kJobLine, static_cast<unsigned long long>(job),
                 kLauncherLine, launched_as().c_str());
    if (std::fclose(file) != 0) error = errno;
  } else {
    error = errno;
  }
  if (error == 0 && name_directory(fresh, output)) return true;
  if (error == 0) error = errno;
  unlink(note_in(fresh).c_str());
  rmdir(fresh.c_str());
  errno = error;
  return false;
}

/// The number of the job of sessions that a directory belongs to; 0 if it belongs to another job:
/// the launcher's name differs, or another process already has this rank there. (MPICH's launcher
/// gives its jobs no name.)
uint64_t job_of(const std::string& output, int rank) {
  std::ifstream file(note_in(output));
  uint64_t job = 0;
  bool ours = false;
  const std::string of_this_rank = ": " + std::to_string(rank);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(kJobLine, 0) == 0)
      job = std::strtoull(line.c_str() + sizeof kJobLine - 1, nullptr, 10);
    if (line.rfind(kLauncherLine, 0) == 0)
      ours = line.substr(sizeof kLauncherLine - 1) == launched_as();
    if (line.starts_with("records ") && line.ends_with(of_this_rank)) return 0;
  }
  return ours ? job : 0;
}

/// True in a job that MPI_Comm_spawn started.
bool is_spawned() {
  if (!library::kHasParentsAndTopologies) return false;
  MPI_Comm parent = handles.comm_null;
  PMPI(Comm_get_parent)(&parent);
  return parent != handles.comm_null;
}

/// Rank 0 creates the directory of the archive, under the first free name; returns 0 or errno.
/// Spawned jobs inherit the name from their parents, whose archive is the last with it: theirs are
/// called NAME.spawned-1, -2, ...
int make_output(std::string& output) {
  const bool spawned = is_spawned();
  const std::string first = spawned ? last_output(output) + ".spawned-" : output;
  for (int number = 1; number <= kMostOutputs; ++number) {
    output = spawned ? first + std::to_string(number) : numbered_output(first, number);
    if (mkdir(output.c_str(), 0777) == 0) return 0;
    if (errno != EEXIST) break;
  }
  return errno;
}

/// The archive gets another name than requested, since that is taken. Warns if an incomplete run
/// has it.
void say_left_over(const std::string& asked_for, const std::string& output) {
  std::string left;
  for (int number = 1; numbered_output(asked_for, number) != output && number < kMostOutputs;
       ++number) {
    const std::string name = numbered_output(asked_for, number);
    if (is_taken(note_in(name))) left = name;
  }
  if (left.empty()) return;
  warn(left +
       " holds records of another run; when that has ended, make a trace of them: rubato "
       "recover " +
       shell_word(left));
}

}  // namespace

bool RecordSpace::make(MPI_Comm comm, Settings& settings, const std::string& host) {
  int rank, size;
  PMPI(Comm_rank)(comm, &rank);
  PMPI(Comm_size)(comm, &size);

  const NoFileSizeSignal quiet;
  Packer told;
  if (rank == 0) {
    std::string trouble;
    const std::string wanted = settings.output;
    const int error = settings.archive ? make_output(settings.output) : 0;
    if (error != 0) {
      trouble = std::strerror(error);
      say_outcome("nothing is recorded in " + settings.output + ": " + trouble);
    } else if (settings.archive && !is_spawned()) {
      say_left_over(wanted, settings.output);
      tell_output(settings.output);
    }
    told.put(trouble);
    told.put(settings.output);
    told.put(new_job(settings));
    told.put(settings.archive);
    told.put(settings.summary);
    told.put(settings.report);
  }
  const std::string heard = broadcast(comm, told.bytes());
  Unpacker from(heard);
  if (!from.text().empty()) return false;
  settings.output = from.text();
  job = from.value();
  settings.archive = from.value() != 0;
  settings.summary = from.value() != 0;
  settings.report = from.text();
  choose_directory(rank, settings);
  if (!settings.archive) return true;
  const auto places = gather(comm, host + " " + (directory.empty() ? "-" : directory));
  if (rank == 0) write_note(settings.output, size, places);
  return true;
}

bool RecordSpace::make_alone(int rank, int size, Settings& settings, const std::string& host) {
  if (!settings.archive) {
    job = new_job(settings);
    choose_directory(rank, settings);
    return true;
  }
  const NoFileSizeSignal quiet;
  const std::string wanted = settings.output;
  int error = EEXIST;
  for (int number = 1; job == 0 && number <= kMostOutputs; ++number) {
    settings.output = numbered_output(wanted, number);
    if (!is_taken(settings.output) &&
        !make_with_job(settings.output, new_job(settings), rank, size)) {
      error = errno;
      if (!is_taken(settings.output)) break;  // else another rank was faster, or another job
    }
    job = job_of(settings.output, rank);
  }
  if (job == 0) {
    say_outcome("rank " + std::to_string(rank) + " records nothing in " + settings.output + ": " +
                std::strerror(error));
    return false;
  }
  if (rank == 0) {
    say_left_over(wanted, settings.output);
    tell_output(settings.output);
  }
  choose_directory(rank, settings);
  const std::string line = "records " + host + " " + (directory.empty() ? "-" : directory) + ": " +
                           std::to_string(rank) + "\n";
  const int file =
      open(note_in(settings.output).c_str(), O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
  if (file >= 0) {
    // In one write, as other processes append too.
    [[maybe_unused]] const ssize_t written = write(file, line.data(), line.size());
    close(file);
  }
  return true;
}

void RecordSpace::choose_directory(int rank, const Settings& settings) {
  segments.rank = rank;
  segments.limit = settings.memory;
  if (!settings.archive) return;  // memory that ends with the process
  directory = record_directory(settings, job);
  if (!make_private(directory)) {
    warn(directory + ": " + std::strerror(errno) +
         "; records are kept in memory and are lost if the program is killed");
    directory.clear();
  }
  if (!settings.stop_when_full) overflow = settings.output + "/" + kOverflow;
  segments.directory = directory.empty() ? nullptr : directory.c_str();
  segments.overflow = overflow.empty() ? nullptr : overflow.c_str();
  segments.in_memory = directory.empty() || in_memory(directory);
}

void RecordSpace::remove(MPI_Comm comm, const Settings& settings) const {
  // Each rank has removed its files; the last one of a node finds the directory empty.
  if (!directory.empty()) rmdir(directory.c_str());
  int rank;
  PMPI(Barrier)(comm);
  PMPI(Comm_rank)(comm, &rank);
  if (rank != 0) return;
  rmdir((settings.output + "/" + kOverflow).c_str());
  unlink((settings.output + "/" + kIncomplete).c_str());
}

}  // namespace tracing
}  // namespace rubato
