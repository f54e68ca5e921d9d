#pragma once

#include <string>
#include <vector>

namespace rubato {

/// A text per core, neighbours with the same text together: "0-3: performance; 4: powersave"; of
/// all cores alike only the text. Cores without one are left out. "" if none has one.
std::string text_by_core(const std::vector<std::string>& texts);

/// The frequency governor of each of the first `cores` cores, as the kernel tells it below
/// `system` (/sys/devices/system/cpu); "" where it tells none.
std::string governors(const std::string& system, int cores);

/// What each of them runs at now, "2400 MHz": the kernel's scaling_cur_freq, else "cpu MHz" of
/// `cpuinfo` (/proc/cpuinfo), which virtual machines have too.
std::string frequencies(const std::string& system, const std::string& cpuinfo, int cores);

}  // namespace rubato
