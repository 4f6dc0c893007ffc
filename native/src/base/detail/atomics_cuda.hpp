#pragma once
// The CUDA back end. Types and constants are those of the CPU's, because both sides of one translation unit see them;
// on the device an operation is cuda::atomic_ref's, at the scope that the field's type names.
#include <atomic>
#include <cuda/atomic>
#include <type_traits>

namespace dfccl {

/// Who may observe an atomic: on a GPU it decides how far an order has to reach, and with it what the order costs.
enum class Scope { block, device, system };

namespace order {
inline constexpr std::memory_order relaxed = std::memory_order_relaxed;
inline constexpr std::memory_order acquire = std::memory_order_acquire;
inline constexpr std::memory_order release = std::memory_order_release;
inline constexpr std::memory_order acqRel = std::memory_order_acq_rel;
inline constexpr std::memory_order seqCst = std::memory_order_seq_cst;
}  // namespace order

using Order = std::memory_order;

namespace detail {
constexpr cuda::thread_scope cudaScope(Scope scope) {
  if (scope == Scope::block) return cuda::thread_scope_block;
  return scope == Scope::device ? cuda::thread_scope_device : cuda::thread_scope_system;
}
constexpr cuda::std::memory_order cudaOrder(std::memory_order o) {
  switch (o) {
    case std::memory_order_acquire:
    case std::memory_order_consume:
      return cuda::std::memory_order_acquire;
    case std::memory_order_release:
      return cuda::std::memory_order_release;
    case std::memory_order_acq_rel:
      return cuda::std::memory_order_acq_rel;
    case std::memory_order_seq_cst:
      return cuda::std::memory_order_seq_cst;
    case std::memory_order_relaxed:
      break;
  }
  return cuda::std::memory_order_relaxed;
}
}  // namespace detail

#if defined(__CUDA_ARCH__)
#define DFCCL_ORDER(o) ::dfccl::detail::cudaOrder(o)
#else
#define DFCCL_ORDER(o) o
#endif

/// A field of shared memory that is only touched atomically. Same size and layout as T on both sides.
template <class T, Scope S = Scope::system>
struct Atomic {
  static_assert(std::is_trivially_copyable_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
  alignas(sizeof(T)) T value{};

  // A volatile access is a relaxed one at system scope (PTX's memory model), and a single instruction, in shared memory
  // too; cuda::atomic_ref first asks, each time, what kind of address it has.
  DFCCL_HD T load(Order o) const {
#if defined(__CUDA_ARCH__)
    if (o == order::relaxed) return static_cast<const volatile T&>(value);
#endif
    return ref().load(DFCCL_ORDER(o));
  }
  DFCCL_HD void store(T v, Order o) {
#if defined(__CUDA_ARCH__)
    if (o == order::relaxed) {
      static_cast<volatile T&>(value) = v;
      return;
    }
#endif
    ref().store(v, DFCCL_ORDER(o));
  }
  DFCCL_HD T exchange(T v, Order o) { return ref().exchange(v, DFCCL_ORDER(o)); }
  DFCCL_HD T fetchAdd(T v, Order o) { return ref().fetch_add(v, DFCCL_ORDER(o)); }
  DFCCL_HD T fetchSub(T v, Order o) { return ref().fetch_sub(v, DFCCL_ORDER(o)); }
  DFCCL_HD T fetchOr(T v, Order o) { return ref().fetch_or(v, DFCCL_ORDER(o)); }
  DFCCL_HD bool compareExchange(T& expected, T desired, Order success, Order failure) {
    return ref().compare_exchange_strong(expected, desired, DFCCL_ORDER(success), DFCCL_ORDER(failure));
  }

 private:
#if defined(__CUDA_ARCH__)
  __device__ cuda::atomic_ref<T, detail::cudaScope(S)> ref() const {
    return cuda::atomic_ref<T, detail::cudaScope(S)>(const_cast<T&>(value));
  }
#else
  std::atomic_ref<T> ref() const { return std::atomic_ref<T>(const_cast<T&>(value)); }
#endif
};

#undef DFCCL_ORDER

/// Plain data that several threads touch, ordered by an Atomic beside it.
template <class T>
struct Plain {
  T value{};
  DFCCL_HD T get() const { return value; }
  DFCCL_HD void set(T v) { value = v; }
};

}  // namespace dfccl
