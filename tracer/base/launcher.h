#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

/// The launcher (mpirun, srun) that started this process.
namespace rubato {
inline namespace tracing {

/// The job that this process belongs to, by its launcher: the same text in all of its processes and
/// in no other job of that time. "-" if unknown.
std::string launched_as();

/// The rank of this process in that job; 0 if unknown.
int launcher_rank();

/// Standard error of MPICH's launcher on this node, opened for writing, if it is what reads this
/// process's standard error; else -1. When a job is aborted, hydra ends without reading the last
/// line of a rank; what is written here arrives. And the exit code that hydra reports depends on
/// when the standard error of a rank is closed: no other process may keep it open.
int hydra_stderr();
/// Standard error of its mpiexec, if that runs on this node; it stays open when mpiexec ends. Else
/// -1.
int hydra_mpiexec_stderr();

/// The words of a process's command line as it was started; none where it cannot be read.
std::vector<std::string> words_of_process(const std::string& process);

/// What a descriptor of a process is, such as "pipe:[123]"; "" if it is not open.
std::string file_behind(const std::string& process, const std::string& descriptor);

/// Whether a process was started with `entry` ("NAME=value") in its environment, and has not ended.
bool process_has(const std::string& process, const std::string& entry);
/// Whether there is another one, whose standard error is that file (see file_behind()).
bool other_process_has(const std::string& entry, const std::string& standard_error);

}  // namespace tracing
}  // namespace rubato
