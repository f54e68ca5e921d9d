#pragma once

// Structs as bytes. A struct X has, in namespace rubato, a function
//
//   template <typename Visit> static void visit(X& x, Visit each) {
//     static_assert(members<X>() == 2);
//     each(x.name, x.count);
//   }
//
// that lists its members once; both directions visit them in that order. The assertion fails when
// the struct gets a member that is not listed.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/base/fixed_list.h"
#include "replay/cluster/byte_stream.h"

namespace rubato {

/// Converts to a value of any type.
struct AnyValue {
  template <typename T>
  operator T() const;
};
template <typename T, typename... Members>
concept MadeOf = requires {
  T{Members{}...};
};
/// The number of members of an aggregate, counting a base as one.
template <typename T, typename... Members>
constexpr size_t members() {
  if constexpr (MadeOf<T, Members..., AnyValue>)
    return members<T, Members..., AnyValue>();
  else
    return sizeof...(Members);
}

/// True for types that are copied bytewise.
template <typename T>
inline constexpr bool kGoesAsItIs = std::is_arithmetic_v<T> || std::is_enum_v<T>;

/// Writes values of any of these types.
struct PutMembers {
  ByteWriter& to;

  template <typename... T>
  void operator()(T&... values) const {
    (put(values), ...);
  }
  template <typename T>
  void put(T& value) const {
    if constexpr (kGoesAsItIs<T>)
      to.value(value);
    else
      visit(value, *this);
  }
  void put(std::string& text) const { to.text(text); }
  template <typename T>
  void put(std::vector<T>& values) const {
    to.number(values.size());
    for (T& value : values) put(value);
  }
  template <typename T, size_t n>
  void put(std::array<T, n>& values) const {
    for (T& value : values) put(value);
  }
  template <typename T>
  void put(std::optional<T>& value) const {
    to.number(value ? 1 : 0);
    if (value) put(*value);
  }
  template <typename A, typename B>
  void put(std::pair<A, B>& both) const {
    put(both.first), put(both.second);
  }
  template <typename Key, typename T>
  void put(std::map<Key, T>& values) const {
    put_map(values);
  }
  template <typename Key, typename T>
  void put(std::unordered_map<Key, T>& values) const {
    put_map(values);
  }
  template <typename T>
  void put(FixedList<T>& values) const {
    to.list<T>(values);
  }

 private:
  template <typename Map>
  void put_map(Map& values) const {
    to.number(values.size());
    for (auto& [key, value] : values) {
      auto copy = key;
      put(copy), put(value);
    }
  }
};

/// Reads them. Lists stay in the bytes, which `owner` keeps alive.
struct TakeMembers {
  ByteReader& from;
  std::shared_ptr<const void> owner{};

  template <typename... T>
  void operator()(T&... values) const {
    (take(values), ...);
  }
  template <typename T>
  void take(T& value) const {
    if constexpr (kGoesAsItIs<T>)
      from.value(value);
    else
      visit(value, *this);
  }
  void take(std::string& text) const { text = from.text(); }
  template <typename T>
  void take(std::vector<T>& values) const {
    values.clear();
    // One by one: a file may claim more elements than it has.
    for (uint64_t left = from.number(); left > 0; --left) take(values.emplace_back());
  }
  template <typename T, size_t n>
  void take(std::array<T, n>& values) const {
    for (T& value : values) take(value);
  }
  template <typename T>
  void take(std::optional<T>& value) const {
    value.reset();
    if (from.number() != 0) take(value.emplace());
  }
  template <typename A, typename B>
  void take(std::pair<A, B>& both) const {
    take(both.first), take(both.second);
  }
  template <typename Key, typename T>
  void take(std::map<Key, T>& values) const {
    take_map(values);
  }
  template <typename Key, typename T>
  void take(std::unordered_map<Key, T>& values) const {
    take_map(values);
  }
  template <typename T>
  void take(FixedList<T>& values) const {
    values = from.list<T>(owner);
  }

 private:
  template <typename Map>
  void take_map(Map& values) const {
    values.clear();
    for (uint64_t left = from.number(); left > 0; --left) {
      typename Map::key_type key{};
      take(key);
      take(values[key]);
    }
  }
};

}  // namespace rubato
