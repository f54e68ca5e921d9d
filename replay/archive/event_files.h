#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "replay/archive/archive.h"
#include "replay/store/call_store.h"
#include "replay/trace/function_times.h"

namespace rubato {

class KernelClock;

/// The event files of an archive, opened by one thread for itself.
class EventFiles {
 public:
  struct Closing {
    void operator()(OTF2_Reader_struct* reader) const;
  };
  using Reader = std::unique_ptr<OTF2_Reader_struct, Closing>;

  /// A reader that has read the anchor file. Errors: InputError.
  static Reader open_anchor(const std::string& anchor);

  /// errno at the latest error of libotf2 in this process; 0: none.
  static int latest_error();
  static void forget_errors();

  /// To read `locations` with a reader that has read only the anchor, or the definitions. Errors:
  /// InputError.
  EventFiles(const Archive& archive, bool ignore_offsets, Reader reader,
             const std::vector<uint64_t>& locations);
  ~EventFiles();
  EventFiles(const EventFiles&) = delete;
  EventFiles& operator=(const EventFiles&) = delete;

  /// True when some location has clock offsets other than 0.
  bool moves_clocks() const;

  /// Decodes all locations of a rank into `store`; adds the numbers of records to `counts`. `watch`
  /// receives the time in functions, as far as requested. Errors: InputError with location and
  /// event.
  void load_rank(int rank, bool keep_records, CallStore& store, EventSource::Counts& counts,
                 FunctionWatch watch);

  /// Reads a side location on its own, to its end or until `look`, which receives its calls and
  /// records, returns false. At the end returns a mismatch in its number of records. Errors:
  /// InputError.
  std::optional<Miscount> read_apart(const SideLocation& side,
                                     const std::function<bool(const Block&)>& look);

  /// Reads a GPU stream to its end. Errors: InputError.
  void sum_kernels(const SideLocation& stream, KernelClock& kernels);

 private:
  struct Decoding;

  /// False when sends turned out to need holding back (CallBuilder::hold_sends): then the contents
  /// of `store` and `times` are wrong.
  bool decode_rank(int rank, bool keep_records, bool hold_sends, CallStore& store,
                   EventSource::Counts& counts, FunctionWatch watch);

  std::unique_ptr<Decoding> decoding_;
};

}  // namespace rubato
