#include "replay/call_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "models/error.h"
#include "replay/hot.h"

namespace rubato {
namespace {

constexpr size_t kBuffer = 4 << 20;  ///< bytes; an archive that needs no more needs no file
constexpr size_t kCallsAtOnce = 8;

}  // namespace

CallStore::CallStore(int timelines, bool with_records)
    : with_records_(with_records), timelines_(timelines) {
  const char* directory = std::getenv("TMPDIR");
  directory_ = directory && *directory ? directory : "/tmp";
}

CallStore::~CallStore() {
  if (file_ >= 0) ::close(file_);
}

void CallStore::append(int timeline, const Block& block) {
  CallPacker& packer = this->packer(timeline);
  for (size_t i = 0; i < block.calls.size(); ++i) {
    packer.add(block, i);
    if (packer.full()) write(timelines_[timeline]);
  }
}

CallPacker& CallStore::packer(int timeline) {
  Timeline& t = timelines_[timeline];
  if (!t.packer) t.packer = std::make_unique<CallPacker>(with_records_);
  return *t.packer;
}

void CallStore::settle(int timeline) {
  Timeline& t = timelines_[timeline];
  if (t.packer->full()) write(t);
}

void CallStore::close(int timeline) {
  Timeline& t = timelines_[timeline];
  if (t.packer && !t.packer->empty()) write(t);
  t.packer.reset();
}

void CallStore::forget(int timeline) {
  timelines_[timeline].pieces.clear();
  timelines_[timeline].packer.reset();
}

void CallStore::write(Timeline& timeline) {
  const auto piece = timeline.packer->take();
  const std::lock_guard lock(writing_);
  if (buffer_.size() + piece.size() > kBuffer) write_out();
  timeline.pieces.push_back({written_ + buffer_.size(), static_cast<uint32_t>(piece.size())});
  buffer_.insert(buffer_.end(), piece.begin(), piece.end());
  timeline.packer->tell(uses_);
}

void CallStore::write_out() {
  if (file_ < 0) open_file();
  for (size_t done = 0; done < buffer_.size();) {
    const ssize_t n = ::write(file_, buffer_.data() + done, buffer_.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail("cannot be written");
    done += static_cast<size_t>(n);
  }
  written_ += buffer_.size();
  buffer_.clear();
}

void CallStore::open_file() {
  file_ = ::open(directory_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file_ >= 0) return;
  // Some file systems cannot make a file without a name.
  std::string name = directory_ + "/rubato-XXXXXX";
  file_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (file_ < 0) fail("cannot be made");
  ::unlink(name.c_str());
}

void CallStore::fail(const char* what) const {
  throw InputError(directory_ + ": the file that holds the calls of the archive meanwhile " + what +
                   " (" + std::strerror(errno) +
                   "); it takes up to the archive's size; TMPDIR says where it goes");
}

bool CallStore::read(int timeline, Block& block) {
  Timeline& t = timelines_[timeline];
  if (!t.unpacker) t.unpacker = std::make_unique<CallUnpacker>(with_records_);
  while (!t.unpacker->read(block, kCallsAtOnce)) {
    if (t.next_piece == t.pieces.size()) {
      t.unpacker.reset();
      return false;
    }
    read_piece(t.pieces[t.next_piece++], t.unpacker->piece());
    t.unpacker->start();
  }
  return true;
}

void CallStore::fetch(int timeline, int turns) const {
  const Timeline& t = timelines_[timeline];
  if (turns == 3) {
    fetch_lines(&t, sizeof t);
  } else if (turns == 2) {
    fetch_lines(t.unpacker.get(), t.unpacker ? sizeof *t.unpacker : 0);
  } else if (t.unpacker) {
    t.unpacker->fetch_next();
  }
}

void CallStore::rewind() {
  for (Timeline& timeline : timelines_) {
    timeline.next_piece = 0;
    timeline.unpacker.reset();
  }
}

void CallStore::read_piece(const Place& place, std::vector<std::byte>& bytes) const {
  bytes.resize(place.bytes);
  if (place.offset >= written_) {
    std::memcpy(bytes.data(), buffer_.data() + (place.offset - written_), place.bytes);
    return;
  }
  for (size_t done = 0; done < place.bytes;) {
    const ssize_t n = ::pread(file_, bytes.data() + done, place.bytes - done,
                              static_cast<off_t>(place.offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail("cannot be read again");
    done += static_cast<size_t>(n);
  }
}

}  // namespace rubato
