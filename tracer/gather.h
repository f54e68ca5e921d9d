#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tracer/pmpi.h"

/// Moving what ranks know about themselves to rank 0 and back.
namespace rubato {

/// Values and texts one behind the other in a string of bytes.
class Packer {
 public:
  void put(uint64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void put(const std::string& text) {
    put(text.size());
    bytes_ += text;
  }
  void put(const std::vector<int>& list) {
    put(list.size());
    for (const int value : list) put(static_cast<uint64_t>(value));
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(const std::string& bytes) : bytes_(bytes) {}
  uint64_t value() {
    uint64_t value;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::string text() {
    const size_t size = value();
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  std::vector<int> list() {
    std::vector<int> list(value());
    for (int& element : list) element = static_cast<int>(value());
    return list;
  }

 private:
  const std::string& bytes_;
  size_t at_ = 0;
};

/// The bytes of every rank, at rank 0; empty elsewhere. Collective.
std::vector<std::string> gather(MPI_Comm comm, const std::string& mine);
/// The bytes of rank 0, everywhere. Collective.
std::string broadcast(MPI_Comm comm, const std::string& at_root);

}  // namespace rubato
