#pragma once
#include <atomic>
#include <type_traits>

namespace dfccl {

/// Who may observe an atomic. The CPU has one domain, so the scope only documents; a GPU chooses instructions by it.
enum class Scope { block, device, system };

namespace order {
inline constexpr std::memory_order relaxed = std::memory_order_relaxed;
inline constexpr std::memory_order acquire = std::memory_order_acquire;
inline constexpr std::memory_order release = std::memory_order_release;
inline constexpr std::memory_order acqRel = std::memory_order_acq_rel;
inline constexpr std::memory_order seqCst = std::memory_order_seq_cst;
}  // namespace order

using Order = std::memory_order;

/// A field of shared memory that is only touched atomically. Same size and layout as T, so that JavaScript (through
/// Atomics on a typed array) and another process may share it.
template <class T, Scope S = Scope::system>
struct Atomic {
  static_assert(std::is_trivially_copyable_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
  alignas(sizeof(T)) T value{};

  T load(Order o) const { return ref().load(o); }
  void store(T v, Order o) { ref().store(v, o); }
  T exchange(T v, Order o) { return ref().exchange(v, o); }
  T fetchAdd(T v, Order o) { return ref().fetch_add(v, o); }
  T fetchSub(T v, Order o) { return ref().fetch_sub(v, o); }
  T fetchOr(T v, Order o) { return ref().fetch_or(v, o); }
  bool compareExchange(T& expected, T desired, Order success, Order failure) {
    return ref().compare_exchange_strong(expected, desired, success, failure);
  }

 private:
  std::atomic_ref<T> ref() const { return std::atomic_ref<T>(const_cast<T&>(value)); }
};

/// Plain data that several threads touch, ordered by an Atomic beside it. The verifier checks that; here it is a T.
template <class T>
struct Plain {
  T value{};
  T get() const { return value; }
  void set(T v) { value = v; }
};

}  // namespace dfccl
