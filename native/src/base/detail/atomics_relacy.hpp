#pragma once
// The verifier's back end: the same Atomic and Plain over Relacy, so that the very headers that run in production are
// checked under relaxed memory orders. An Atomic here carries its history of stores, so it is larger than its T; layout
// assertions are made by the other back ends.
#include <cassert>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <type_traits>

#include <relacy/relacy.hpp>

// Relacy redefines keywords and library names, which would change the meaning of every header that follows.
#undef new
#undef delete
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef assert
#undef errno
#undef memory_order_relaxed
#undef memory_order_consume
#undef memory_order_acquire
#undef memory_order_release
#undef memory_order_acq_rel
#undef memory_order_seq_cst

namespace dfccl {

/// Who may observe an atomic. The verifier has one domain, so the scope only documents.
enum class Scope { block, device, system };

using Order = rl::memory_order;

namespace order {
inline constexpr Order relaxed = rl::mo_relaxed;
inline constexpr Order acquire = rl::mo_acquire;
inline constexpr Order release = rl::mo_release;
inline constexpr Order acqRel = rl::mo_acq_rel;
inline constexpr Order seqCst = rl::mo_seq_cst;
}  // namespace order

/// A field of shared memory that is only touched atomically. Zero until stored to, as in the other back ends.
template <class T, Scope S = Scope::system>
struct Atomic {
  static_assert(std::is_trivially_copyable_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));

  Atomic() : value_(T{}) {}
  explicit Atomic(T initial) : value_(initial) {}

  T load(Order o) const { return value_.load(o, $); }
  void store(T v, Order o) { value_.store(v, o, $); }
  T exchange(T v, Order o) { return value_.exchange(v, o, $); }
  T fetchAdd(T v, Order o) { return value_.fetch_add(v, o, $); }
  T fetchSub(T v, Order o) { return value_.fetch_sub(v, o, $); }
  T fetchOr(T v, Order o) { return value_.rmw(rl::rmw_type_t<rl::rmw_type_or>(), v, o, $); }
  bool compareExchange(T& expected, T desired, Order success, Order failure) {
    return value_.compare_exchange(rl::bool_t<false>(), expected, desired, success, failure, $);
  }

 private:
  rl::atomic<T> value_;
};

/// Plain data that several threads touch, ordered by an Atomic beside it. Two accesses that nothing orders, one of them
/// a write, fail the run.
template <class T>
struct Plain {
  Plain() : value_(T{}) {}
  T get() const { return value_($).load(); }
  void set(T v) { value_($).store(v); }

 private:
  rl::var<T> value_;
};

}  // namespace dfccl
