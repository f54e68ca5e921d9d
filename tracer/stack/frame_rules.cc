#include "tracer/stack/frame_rules.h"

#include <dlfcn.h>

#include <cstddef>
#include <cstring>

namespace rubato {
inline namespace tracing {

// Without it (glibc before 2.35) nothing is found.
#ifdef DLFO_STRUCT_HAS_EH_DBASE
extern "C" __attribute__((weak)) int _dl_find_object(void* address,
                                                     struct dl_find_object* result) noexcept;
#endif

namespace {

constexpr uint64_t kRegisterBase = 6;   ///< rbp, as DWARF counts registers on x86-64
constexpr uint64_t kRegisterStack = 7;  ///< rsp
constexpr uint64_t kRegisterReturn = 16;

/// Reads the encodings of .eh_frame. Behind the end it reads zeros, and good() is false.
class Bytes {
 public:
  Bytes(const uint8_t* begin, const uint8_t* end) : at_(begin), end_(end) {}

  bool done() const { return at_ >= end_; }
  bool good() const { return good_; }
  const uint8_t* at() const { return at_; }

  template <class Value>
  Value fixed() {
    Value value{};
    if (end_ - at_ < static_cast<ptrdiff_t>(sizeof value)) return fail<Value>();
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  uint64_t unsigned_number() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = fixed<uint8_t>();
      value |= uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) return value;
    }
    return fail<uint64_t>();
  }
  int64_t signed_number() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64;) {
      const auto byte = fixed<uint8_t>();
      value |= uint64_t{byte & 0x7fu} << shift;
      shift += 7;
      if ((byte & 0x80) != 0) continue;
      if ((byte & 0x40) != 0 && shift < 64) value |= ~uint64_t{0} << shift;
      return static_cast<int64_t>(value);
    }
    return fail<int64_t>();
  }
  /// A pointer in an encoding of the tables (DW_EH_PE_*).
  uint64_t pointer(uint8_t encoding) {
    const auto place = reinterpret_cast<uint64_t>(at_);
    uint64_t value = 0;
    switch (encoding & 0x0f) {
      case 0x00:
      case 0x04:
      case 0x0c:
        value = fixed<uint64_t>();
        break;
      case 0x01:
        value = unsigned_number();
        break;
      case 0x02:
        value = fixed<uint16_t>();
        break;
      case 0x03:
        value = fixed<uint32_t>();
        break;
      case 0x09:
        value = static_cast<uint64_t>(signed_number());
        break;
      case 0x0a:
        value = static_cast<uint64_t>(int64_t{fixed<int16_t>()});
        break;
      case 0x0b:
        value = static_cast<uint64_t>(int64_t{fixed<int32_t>()});
        break;
      default:
        return fail<uint64_t>();
    }
    const uint8_t relative_to = encoding & 0x70;
    if (relative_to == 0x10 && value != 0) value += place;
    if (relative_to != 0x10 && relative_to != 0) return fail<uint64_t>();
    return value;
  }
  void pass(uint64_t bytes) {
    if (bytes > static_cast<uint64_t>(end_ - at_)) {
      fail<int>();
    } else {
      at_ += bytes;
    }
  }
  Bytes block() {
    const uint64_t length = unsigned_number();
    const uint8_t* const begin = at_;
    pass(length);
    return {begin, at_};
  }

 private:
  template <class Value>
  Value fail() {
    good_ = false;
    at_ = end_;
    return Value{};
  }

  const uint8_t* at_;
  const uint8_t* end_;
  bool good_ = true;
};

/// Common part of the entries of several functions (CIE).
struct Common {
  uint64_t code_factor = 1;
  int64_t data_factor = 1;
  uint8_t pointers = 0;  ///< encoding of addresses
  bool has_extra = false;
  bool is_signal_frame = false;
  Bytes program{nullptr, nullptr};
};

/// The length of an entry; 0: the end of the table, or an entry of more than 4 GiB.
Bytes entry_at(const uint8_t* at) {
  uint32_t length;
  std::memcpy(&length, at, sizeof length);
  if (length == 0xffffffff) length = 0;
  return {at + sizeof length, at + sizeof length + length};
}

bool read_common(const uint8_t* at, Common& common) {
  Bytes entry = entry_at(at);
  if (entry.fixed<uint32_t>() != 0) return false;  // not a CIE
  const auto version = entry.fixed<uint8_t>();
  const char* letters = reinterpret_cast<const char*>(entry.at());
  while (entry.fixed<uint8_t>() != 0) {
  }
  if (!entry.good() || (version != 1 && version != 3)) return false;
  common.code_factor = entry.unsigned_number();
  common.data_factor = entry.signed_number();
  const uint64_t return_column = version == 1 ? entry.fixed<uint8_t>() : entry.unsigned_number();
  if (return_column != kRegisterReturn) return false;
  if (*letters == 'z') {
    common.has_extra = true;
    Bytes extra = entry.block();
    for (++letters; *letters != '\0'; ++letters) {
      if (*letters == 'R') {
        common.pointers = extra.fixed<uint8_t>();
      } else if (*letters == 'P') {
        const auto encoding = extra.fixed<uint8_t>();
        extra.pointer(encoding & 0x0f);
      } else if (*letters == 'L') {
        extra.fixed<uint8_t>();
      } else if (*letters == 'S') {
        common.is_signal_frame = true;
      } else {
        return false;
      }
    }
    if (!extra.good()) return false;
  } else if (*letters != '\0') {
    return false;
  }
  common.program = entry;
  return entry.good();
}

/// A value of DWARF's stack machine: a constant, or rbp or rsp plus a constant, or the word there.
struct Value {
  enum class From : uint8_t { kConstant, kBase, kStack, kOther };
  From from = From::kConstant;
  bool loaded = false;
  int64_t offset = 0;

  bool is_constant() const { return from == From::kConstant && !loaded; }
};

/// Evaluates an expression as far as compilers and linkers use them: for realigned stacks and for
/// the entries of the procedure linkage table. Anything else is kOther.
Value evaluate(Bytes code, uint64_t address) {
  constexpr Value kUnknown{Value::From::kOther, false, 0};
  constexpr size_t kMost = 8;
  Value stack[kMost];
  size_t depth = 0;
  while (!code.done()) {
    const auto operation = code.fixed<uint8_t>();
    Value value;
    if (operation >= 0x30 && operation <= 0x4f) {  // DW_OP_lit*
      value.offset = operation - 0x30;
    } else if (operation >= 0x70 && operation <= 0x8f) {  // DW_OP_breg*
      const uint64_t number = operation - 0x70u;
      value.offset = code.signed_number();
      value.from = number == kRegisterBase    ? Value::From::kBase
                   : number == kRegisterStack ? Value::From::kStack
                                              : Value::From::kOther;
      if (number == kRegisterReturn) {  // rip
        value.from = Value::From::kConstant;
        value.offset += static_cast<int64_t>(address);
      }
    } else if (operation == 0x08) {  // DW_OP_const1u
      value.offset = code.fixed<uint8_t>();
    } else if (operation == 0x09) {  // DW_OP_const1s
      value.offset = code.fixed<int8_t>();
    } else if (depth > 0 && operation == 0x06) {  // DW_OP_deref
      value = stack[--depth];
      if (value.loaded || value.is_constant()) return kUnknown;
      value.loaded = true;
    } else if (depth > 0 && operation == 0x23) {  // DW_OP_plus_uconst
      value = stack[--depth];
      if (value.loaded) return kUnknown;
      value.offset += static_cast<int64_t>(code.unsigned_number());
    } else if (depth > 1) {
      const Value right = stack[--depth];
      const Value left = stack[--depth];
      const bool constants = left.is_constant() && right.is_constant();
      if (operation == 0x22 && !left.loaded && right.is_constant()) {  // DW_OP_plus
        value = left;
        value.offset += right.offset;
      } else if (constants && operation == 0x1a) {  // DW_OP_and
        value.offset = left.offset & right.offset;
      } else if (constants && operation == 0x2a) {  // DW_OP_ge
        value.offset = left.offset >= right.offset ? 1 : 0;
      } else if (constants && operation == 0x24 && right.offset < 64) {  // DW_OP_shl
        value.offset = static_cast<int64_t>(static_cast<uint64_t>(left.offset) << right.offset);
      } else {
        return kUnknown;
      }
    } else {
      return kUnknown;
    }
    if (value.from == Value::From::kOther || depth == kMost) return kUnknown;
    stack[depth++] = value;
  }
  return code.good() && depth > 0 ? stack[depth - 1] : kUnknown;
}

/// The state of the tables' program (DW_CFA_*) for the three registers that matter.
struct State {
  Value cfa{Value::From::kStack, false, 8};
  FrameRule::Base base = FrameRule::Base::kSame;
  int64_t base_offset = 0;
  bool has_return = true;  ///< the return address is below the CFA
  bool known = true;
};

/// Runs instructions up to `address`; false where one is not known.
class Program {
 public:
  Program(const Common& common, uint64_t function, uint64_t address)
      : common_(common), location_(function), address_(address) {}

  bool run(Bytes code, const State& initial) {
    while (!code.done() && location_ <= address_) {
      if (!step(code, initial)) return false;
    }
    return code.good();
  }

  State state;

 private:
  static constexpr size_t kMostRemembered = 8;

  /// The register is saved at CFA + offset.
  void saved(uint64_t number, int64_t offset) {
    if (number == kRegisterBase) {
      state.base = FrameRule::Base::kSavedAtCfa;
      state.base_offset = offset;
    } else if (number == kRegisterReturn) {
      state.has_return = offset == -8;
    }
  }
  void restore(uint64_t number, const State& initial) {
    if (number == kRegisterBase) {
      state.base = initial.base;
      state.base_offset = initial.base_offset;
    } else if (number == kRegisterReturn) {
      state.has_return = initial.has_return;
    }
  }
  void lost(uint64_t number) {
    if (number == kRegisterBase) state.base = FrameRule::Base::kLost;
    if (number == kRegisterReturn) state.has_return = false;
  }
  void saved_at(uint64_t number, const Value& place) {
    lost(number);
    if (number != kRegisterBase || place.from != Value::From::kBase || place.loaded) return;
    state.base = FrameRule::Base::kSavedAtBase;
    state.base_offset = place.offset;
  }
  static Value::From source(uint64_t number) {
    return number == kRegisterBase    ? Value::From::kBase
           : number == kRegisterStack ? Value::From::kStack
                                      : Value::From::kOther;
  }
  void advance(uint64_t units) { location_ += units * common_.code_factor; }
  int64_t scaled(uint64_t number) { return static_cast<int64_t>(number) * common_.data_factor; }

  bool step(Bytes& code, const State& initial) {
    const auto instruction = code.fixed<uint8_t>();
    const uint8_t low = instruction & 0x3f;
    switch (instruction & 0xc0) {
      case 0x40:
        advance(low);
        return true;
      case 0x80:
        saved(low, scaled(code.unsigned_number()));
        return true;
      case 0xc0:
        restore(low, initial);
        return true;
      default:
        break;
    }
    switch (low) {
      case 0x00:  // nop
        return true;
      case 0x01:  // set_loc
        location_ = code.pointer(common_.pointers);
        return true;
      case 0x02:  // advance_loc1, 2, 4
        advance(code.fixed<uint8_t>());
        return true;
      case 0x03:
        advance(code.fixed<uint16_t>());
        return true;
      case 0x04:
        advance(code.fixed<uint32_t>());
        return true;
      case 0x05: {  // offset_extended
        const uint64_t number = code.unsigned_number();
        saved(number, scaled(code.unsigned_number()));
        return true;
      }
      case 0x06:  // restore_extended
        restore(code.unsigned_number(), initial);
        return true;
      case 0x07:  // undefined
        lost(code.unsigned_number());
        return true;
      case 0x08:  // same_value
        if (code.unsigned_number() == kRegisterBase) state.base = FrameRule::Base::kSame;
        return true;
      case 0x09:  // register: saved in another one
        lost(code.unsigned_number());
        code.unsigned_number();
        return true;
      case 0x0a:  // remember_state
        if (remembered_ == kMostRemembered) return false;
        stack_[remembered_++] = state;
        return true;
      case 0x0b:  // restore_state
        if (remembered_ == 0) return false;
        state = stack_[--remembered_];
        return true;
      case 0x0c:    // def_cfa
      case 0x12: {  // def_cfa_sf
        const uint64_t number = code.unsigned_number();
        state.cfa = {source(number), false,
                     low == 0x0c ? static_cast<int64_t>(code.unsigned_number())
                                 : code.signed_number() * common_.data_factor};
        return true;
      }
      case 0x0d:  // def_cfa_register
        state.cfa.from = source(code.unsigned_number());
        state.cfa.loaded = false;
        return true;
      case 0x0e:  // def_cfa_offset
        state.cfa.offset = static_cast<int64_t>(code.unsigned_number());
        return true;
      case 0x13:  // def_cfa_offset_sf
        state.cfa.offset = code.signed_number() * common_.data_factor;
        return true;
      case 0x0f:  // def_cfa_expression
        state.cfa = evaluate(code.block(), address_);
        return true;
      case 0x10: {  // expression
        const uint64_t number = code.unsigned_number();
        saved_at(number, evaluate(code.block(), address_));
        return true;
      }
      case 0x11: {  // offset_extended_sf
        const uint64_t number = code.unsigned_number();
        saved(number, code.signed_number() * common_.data_factor);
        return true;
      }
      case 0x14:  // val_offset, val_offset_sf
      case 0x15:
        lost(code.unsigned_number());
        code.unsigned_number();
        return true;
      case 0x16:  // val_expression
        lost(code.unsigned_number());
        code.block();
        return true;
      case 0x2e:  // GNU_args_size
        code.unsigned_number();
        return true;
      default:
        return false;
    }
  }

  const Common& common_;
  uint64_t location_;
  uint64_t address_;
  State stack_[kMostRemembered];
  size_t remembered_ = 0;
};

/// The entry (FDE) of the function around `address`, by the sorted table of .eh_frame_hdr; null:
/// none.
const uint8_t* find_entry(const uint8_t* header, uint64_t address) {
  constexpr uint8_t kSorted = 0x3b;  // pairs of 4 bytes, relative to the header
  if (header[0] != 1 || header[3] != kSorted || header[2] == 0xff || header[1] == 0xff)
    return nullptr;
  Bytes head(header + 4, header + 32);
  head.pointer(header[1]);  // .eh_frame
  const uint64_t count = head.pointer(header[2]);
  if (!head.good() || count == 0) return nullptr;
  struct Pair {
    int32_t begin;
    int32_t entry;
  };
  const uint8_t* const table = head.at();
  const auto pair = [&](uint64_t i) {
    Pair each;
    std::memcpy(&each, table + i * sizeof each, sizeof each);
    return each;
  };
  const auto wanted = static_cast<int64_t>(address - reinterpret_cast<uint64_t>(header));
  uint64_t low = 0, high = count;  // the last one that begins at or before
  while (low < high) {
    const uint64_t middle = (low + high) / 2;
    if (pair(middle).begin <= wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low == 0 ? nullptr : header + pair(low - 1).entry;
}

const uint8_t* header_of(uint64_t address) {
#ifdef DLFO_STRUCT_HAS_EH_DBASE
  struct dl_find_object object;
  if (_dl_find_object == nullptr ||
      _dl_find_object(reinterpret_cast<void*>(address), &object) != 0) {
    return nullptr;
  }
  return static_cast<const uint8_t*>(object.dlfo_eh_frame);
#else
  (void)address;
  return nullptr;
#endif
}

FrameRule rule_of(const State& state) {
  FrameRule rule;
  rule.base = state.base;
  rule.base_offset = static_cast<int16_t>(state.base_offset);
  rule.cfa_offset = static_cast<int32_t>(state.cfa.offset);
  if (rule.base_offset != state.base_offset) rule.base = FrameRule::Base::kLost;
  if (!state.has_return || rule.cfa_offset != state.cfa.offset) return rule;
  if (state.cfa.from == Value::From::kStack) {
    rule.cfa = state.cfa.loaded ? FrameRule::Cfa::kLoadFromStack : FrameRule::Cfa::kFromStack;
  } else if (state.cfa.from == Value::From::kBase) {
    rule.cfa = state.cfa.loaded ? FrameRule::Cfa::kLoadFromBase : FrameRule::Cfa::kFromBase;
  }
  return rule;
}

}  // namespace

bool frame_rules_usable() {
#ifdef DLFO_STRUCT_HAS_EH_DBASE
  return _dl_find_object != nullptr;
#else
  return false;
#endif
}

FrameRule find_frame_rule(uint64_t address, uint64_t& function) {
  function = 0;
  const uint8_t* const header = header_of(address);
  if (header == nullptr) return {};
  const uint8_t* const at = find_entry(header, address);
  if (at == nullptr) return {};
  Bytes entry = entry_at(at);
  const uint8_t* const place = entry.at();
  const auto back = entry.fixed<uint32_t>();
  Common common;
  if (back == 0 || !read_common(place - back, common)) return {};
  const uint64_t begin = entry.pointer(common.pointers);
  const uint64_t length = entry.pointer(common.pointers & 0x0f);
  if (!entry.good() || address < begin || address - begin >= length) return {};
  function = begin;
  if (common.has_extra) entry.block();
  if (common.is_signal_frame) return {};  // a path ends in a signal handler
  Program initial(common, begin, address);
  if (!initial.run(common.program, {})) return {};
  Program program(common, begin, address);
  program.state = initial.state;
  if (!program.run(entry, initial.state)) return {};
  return rule_of(program.state);
}

}  // namespace tracing
}  // namespace rubato
