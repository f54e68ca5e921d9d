#include "tracer/objects/datatypes.h"

#include <mutex>
#include <vector>

#include "tracer/objects/handle_table.h"

namespace rubato::tracing::datatypes {
namespace {

std::mutex mutex;
HandleTable<Layout> table;  // writers hold `mutex`
std::vector<Layout*>* unused = nullptr;

/// The data of an element, or of a row of elements. In bytes, from the start of the element.
struct Shape {
  uint64_t blocks = 0;
  int64_t begin = 0;   ///< of the first block
  int64_t end = 0;     ///< of the last one
  int64_t extent = 0;  ///< distance to the next element

  bool joins() const { return blocks > 0 && end == begin + extent; }
};

/// Adds up the blocks of a type in the order of its type map.
class Blocks {
 public:
  /// `n` elements in a row, the first one at `at`.
  void add(int64_t at, int64_t n, const Shape& element) {
    if (n <= 0 || element.blocks == 0) return;
    const auto count = static_cast<uint64_t>(n);
    if (sum_.blocks == 0) sum_.begin = at + element.begin;
    if (sum_.blocks > 0 && sum_.end == at + element.begin) --sum_.blocks;
    sum_.blocks += count * element.blocks - (element.joins() ? count - 1 : 0);
    sum_.end = at + (n - 1) * element.extent + element.end;
  }
  Shape with_extent(int64_t extent) const { return {sum_.blocks, sum_.begin, sum_.end, extent}; }

 private:
  Shape sum_;
};

/// `n` elements as one, at a distance of `extent` bytes from the next.
Shape row_of(int64_t n, const Shape& element, int64_t extent) {
  Blocks row;
  row.add(0, n, element);
  return row.with_extent(extent);
}

/// The call that made a type: its integers, counts and addresses, in this order. The forms for
/// large counts have nearly the same sequence.
struct Contents {
  int combiner = MPI_COMBINER_NAMED;
  bool large = false;
  std::vector<int64_t> numbers;
  std::vector<MPI_Datatype> types;

  bool builtin() const {
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
  }
};

Contents contents_of(MPI_Datatype type) {
  Contents made;
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
#if MPI_VERSION >= 4
  MPI_Count n[4] = {};
  std::vector<MPI_Count> counts;
  if (mpi_function("PMPI_Type_get_contents_c") != nullptr) {
    PMPI(Type_get_envelope_c)(type, &n[0], &n[1], &n[2], &n[3], &made.combiner);
    if (made.builtin()) return made;
    integers.resize(static_cast<size_t>(n[0]));
    addresses.resize(static_cast<size_t>(n[1]));
    counts.resize(static_cast<size_t>(n[2]));
    made.types.resize(static_cast<size_t>(n[3]));
    PMPI(Type_get_contents_c)
    (type, n[0], n[1], n[2], n[3], integers.data(), addresses.data(), counts.data(),
     made.types.data());
    made.large = n[2] > 0;
    made.numbers.assign(integers.begin(), integers.end());
    made.numbers.insert(made.numbers.end(), counts.begin(), counts.end());
    made.numbers.insert(made.numbers.end(), addresses.begin(), addresses.end());
    return made;
  }
#endif
  int few[3] = {};
  PMPI(Type_get_envelope)(type, &few[0], &few[1], &few[2], &made.combiner);
  if (made.builtin()) return made;
  integers.resize(static_cast<size_t>(few[0]));
  addresses.resize(static_cast<size_t>(few[1]));
  made.types.resize(static_cast<size_t>(few[2]));
  PMPI(Type_get_contents)
  (type, few[0], few[1], few[2], integers.data(), addresses.data(), made.types.data());
  made.numbers.assign(integers.begin(), integers.end());
  made.numbers.insert(made.numbers.end(), addresses.begin(), addresses.end());
  return made;
}

Shape shape_of(MPI_Datatype type, bool& builtin);

Shape subarray_of(const Contents& made, Shape element) {
  const auto n = static_cast<size_t>(made.numbers[0]);
  const int64_t* const sizes = made.numbers.data() + (made.large ? 2 : 1);
  const bool c_order = made.numbers[made.large ? 1 : 1 + 3 * n] == MPI_ORDER_C;
  for (size_t i = 0; i < n; ++i) {
    const size_t dimension = c_order ? n - 1 - i : i;
    element = row_of(sizes[n + dimension], element, sizes[dimension] * element.extent);
  }
  return element;
}

/// The shape of a type that was made of others, but for its extent.
Shape made_of(const Contents& made) {
  bool builtin = false;
  const int64_t* const k = made.numbers.data();
  const auto n = static_cast<size_t>(made.numbers.empty() ? 0 : k[0]);
  const Shape of = shape_of(made.types[0], builtin);
  Blocks all;
  switch (made.combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return of;
    case MPI_COMBINER_CONTIGUOUS:
      return row_of(k[0], of, 0);
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR: {
      const int64_t unit = made.combiner == MPI_COMBINER_VECTOR ? of.extent : 1;
      return row_of(k[0], row_of(k[1], of, k[2] * unit), 0);
    }
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED: {
      const int64_t unit = made.combiner == MPI_COMBINER_INDEXED ? of.extent : 1;
      for (size_t i = 1; i <= n; ++i) all.add(k[n + i] * unit, k[i], of);
      return all.with_extent(0);
    }
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK: {
      const int64_t unit = made.combiner == MPI_COMBINER_INDEXED_BLOCK ? of.extent : 1;
      for (size_t i = 0; i < n; ++i) all.add(k[2 + i] * unit, k[1], of);
      return all.with_extent(0);
    }
    case MPI_COMBINER_STRUCT: {
      Shape member = of;
      for (size_t i = 0; i < n; ++i) {
        if (i > 0 && made.types[i] != made.types[i - 1]) member = shape_of(made.types[i], builtin);
        all.add(k[1 + n + i], k[1 + i], member);
      }
      return all.with_extent(0);
    }
    case MPI_COMBINER_SUBARRAY:
      return subarray_of(made, of);
    default:  // MPI_COMBINER_DARRAY, or one of a later version of MPI: not counted
      return {};
  }
}

Shape shape_of(MPI_Datatype type, bool& builtin) {
  MPI_Count first = 0, extent = 0;
  const Contents made = contents_of(type);
  builtin = made.builtin() || made.types.empty();
  if (builtin) {
    MPI_Count length = 0;
    PMPI(Type_get_true_extent_x)(type, &first, &length);
    const uint64_t size = type_size(type);
    PMPI(Type_get_extent_x)(type, &first, &extent);
    // MPI_SHORT_INT and its like may have a hole.
    return {size == 0 ? 0u : size == static_cast<uint64_t>(length) ? 1u : 2u, 0, length, extent};
  }
  Shape shape = made_of(made);
  PMPI(Type_get_extent_x)(type, &first, &extent);
  shape.extent = extent;
  for (MPI_Datatype part : made.types) {
    if (!contents_of(part).builtin()) PMPI(Type_free)(&part);
  }
  return shape;
}

/// Counts the blocks of a type. `known`: its entry so far, or null.
const Layout& count_blocks(MPI_Datatype type, Layout* known) {
  Layout layout;
  const Shape shape = shape_of(type, layout.builtin);
  layout.size = type_size(type);
  layout.blocks = shape.blocks;
  layout.joins = shape.joins();
  const std::lock_guard lock(mutex);
  if (unused == nullptr) unused = new std::vector<Layout*>;
  if (known == nullptr && unused->empty()) unused->push_back(new Layout);
  if (known == nullptr) {
    known = unused->back();
    unused->pop_back();
  }
  *known = layout;
  table.bind(handle_bits(type), known);
  return *known;
}

}  // namespace

const Layout& of(MPI_Datatype type) {
  Layout* const known = table.find(handle_bits(type));
  // A type of another size has got the handle of one that was freed unseen.
  if (known != nullptr && (known->builtin || known->size == type_size(type))) return *known;
  return count_blocks(type, known);
}

void forget(MPI_Datatype type) {
  if (table.find(handle_bits(type)) == nullptr) return;
  const std::lock_guard lock(mutex);
  Layout* const known = table.find(handle_bits(type));
  if (known == nullptr) return;
  table.bind(handle_bits(type), nullptr);
  unused->push_back(known);
}

}  // namespace rubato::tracing::datatypes
