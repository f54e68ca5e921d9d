#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

/// Serialises values and texts into a string of bytes, for messages between ranks and for the
/// journal.
namespace rubato {
inline namespace tracing {

class Packer {
 public:
  void put(uint64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void put(double value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void put(const std::string& text) {
    put(uint64_t{text.size()});
    bytes_ += text;
  }
  void put(const std::vector<int>& list) {
    put(uint64_t{list.size()});
    for (const int value : list) put(static_cast<uint64_t>(value));
  }
  template <class Integer>
  void put(Integer value) {
    put(static_cast<uint64_t>(value));
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Reads the output of a Packer, in the same order. Bytes beyond the end read as zero.
class Unpacker {
 public:
  explicit Unpacker(const std::string& bytes) : bytes_(bytes) {}
  uint64_t value() { return plain<uint64_t>(); }
  double number() { return plain<double>(); }
  std::string text() {
    const size_t size = limited(value());
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  std::vector<int> list() {
    std::vector<int> list(limited(value()));
    for (int& element : list) element = static_cast<int>(value());
    return list;
  }
  bool done() const { return at_ >= bytes_.size(); }

 private:
  template <class Value>
  Value plain() {
    Value value = 0;
    if (bytes_.size() - at_ >= sizeof value) {
      std::memcpy(&value, bytes_.data() + at_, sizeof value);
      at_ += sizeof value;
    } else {
      at_ = bytes_.size();
    }
    return value;
  }
  size_t limited(uint64_t size) const {
    return size < bytes_.size() - at_ ? size : bytes_.size() - at_;
  }

  const std::string& bytes_;
  size_t at_ = 0;
};

}  // namespace tracing
}  // namespace rubato
