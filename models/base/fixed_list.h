#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rubato {

/// An immutable list. Copies share its memory, which another thread, or another process of this
/// host (replay/cluster/transport.h), may own.
template <class T>
class FixedList {
 public:
  FixedList() = default;
  FixedList(std::vector<T> elements) {  // NOLINT(google-explicit-constructor)
    auto owner = std::make_shared<const std::vector<T>>(std::move(elements));
    elements_ = *owner;
    owner_ = std::move(owner);
  }
  FixedList(std::initializer_list<T> elements) : FixedList(std::vector<T>(elements)) {}
  /// Elements in external memory, which `owner` keeps alive.
  FixedList(std::span<const T> elements, std::shared_ptr<const void> owner)
      : elements_(elements), owner_(std::move(owner)) {}

  size_t size() const { return elements_.size(); }
  bool empty() const { return elements_.empty(); }
  const T& operator[](size_t i) const { return elements_[i]; }
  const T& back() const { return elements_.back(); }
  const T* data() const { return elements_.data(); }
  auto begin() const { return elements_.begin(); }
  auto end() const { return elements_.end(); }
  operator std::span<const T>() const { return elements_; }  // NOLINT(google-explicit-constructor)
  std::vector<T> copy() const { return {begin(), end()}; }

  /// The object that keeps the memory alive.
  const std::shared_ptr<const void>& owner() const { return owner_; }

 private:
  std::span<const T> elements_;
  std::shared_ptr<const void> owner_;
};

/// An immutable list of texts.
class FixedTexts {
 public:
  FixedTexts() = default;
  explicit FixedTexts(const std::vector<std::string>& texts) {
    std::vector<uint64_t> ends;
    std::vector<char> all;
    for (const std::string& text : texts) {
      all.insert(all.end(), text.begin(), text.end());
      ends.push_back(all.size());
    }
    ends_ = std::move(ends);
    text_ = std::move(all);
  }
  /// From the lists ends() and text() of another one.
  FixedTexts(FixedList<uint64_t> ends, FixedList<char> text)
      : ends_(std::move(ends)), text_(std::move(text)) {}

  size_t size() const { return ends_.size(); }
  bool empty() const { return ends_.empty(); }
  std::string_view operator[](size_t i) const {
    const uint64_t begin = i == 0 ? 0 : ends_[i - 1];
    return {text_.data() + begin, ends_[i] - begin};
  }
  std::vector<std::string> copy() const {
    std::vector<std::string> texts;
    for (size_t i = 0; i < size(); ++i) texts.emplace_back((*this)[i]);
    return texts;
  }

  /// Where each text ends in text().
  const FixedList<uint64_t>& ends() const { return ends_; }
  const FixedList<char>& text() const { return text_; }

 private:
  FixedList<uint64_t> ends_;
  FixedList<char> text_;
};

}  // namespace rubato
