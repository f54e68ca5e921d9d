#pragma once

#include <string>
#include <vector>

namespace rubato {

/// A text per core, neighbours with the same text together: "0-3: performance; 4: powersave"; only
/// the text if all cores have the same. Cores without a text are left out. "" if none has one.
std::string text_by_core(const std::vector<std::string>& texts);

/// The frequency governor of each of the first `cores` cores, from the kernel's files below
/// `system` (/sys/devices/system/cpu); "" if unknown.
std::string governors(const std::string& system, int cores);

/// The present frequency of each core, "2400 MHz": the kernel's scaling_cur_freq, else "cpu MHz" in
/// `cpuinfo` (/proc/cpuinfo), which virtual machines have too.
std::string frequencies(const std::string& system, const std::string& cpuinfo, int cores);

}  // namespace rubato
