// Functions of the host in place of kernels: simulated devices have their memory where the host reaches it.
#include <chrono>
#include <thread>

#include "stream_programs/user_kernels.hpp"

namespace dfccl::gpu::programs {
namespace {

template <class Function>
cudaError_t put(Function function, cudaStream_t stream) {
  auto* const kept = new Function(std::move(function));
  return cudaLaunchHostFunc(
      stream,
      [](void* argument) {
        auto* const called = static_cast<Function*>(argument);
        (*called)();
        delete called;
      },
      kept);
}

template <class T>
void fill(void* memory, const Pattern& pattern) {
  for (uint64_t i = 0; i < pattern.count(); ++i) static_cast<T*>(memory)[i] = static_cast<T>(valueAt(pattern, i));
}

template <class T>
uint32_t wrongOf(const void* memory, const Pattern& pattern) {
  uint32_t wrong = 0;
  for (uint64_t i = 0; i < pattern.count(); ++i) {
    wrong += static_cast<const T*>(memory)[i] != static_cast<T>(valueAt(pattern, i));
  }
  return wrong;
}

template <class Function>
void withType(ElementType type, const Function& function) {
  switch (type) {
    case ElementType::int32:
      return function(int32_t{});
    case ElementType::int64:
      return function(int64_t{});
    case ElementType::float32:
      return function(float{});
    default:
      return function(double{});
  }
}

}  // namespace

cudaError_t launchFill(void* memory, ElementType type, const Pattern& pattern, cudaStream_t stream) {
  return put([=] { withType(type, [&](auto zero) { fill<decltype(zero)>(memory, pattern); }); }, stream);
}

cudaError_t launchCheck(const void* memory, ElementType type, const Pattern& pattern, Verdict* verdict, uint32_t check,
                        cudaStream_t stream) {
  return put(
      [=] {
        withType(type, [&](auto zero) {
          const uint32_t wrong = wrongOf<decltype(zero)>(memory, pattern);
          if (wrong == 0) return;
          __atomic_fetch_add(&verdict->wrong, wrong, __ATOMIC_RELAXED);
          __atomic_store_n(&verdict->first, check + 1, __ATOMIC_RELAXED);
        });
      },
      stream);
}

cudaError_t launchCompute(uint32_t micros, cudaStream_t stream) {
  return put([=] { std::this_thread::sleep_for(std::chrono::microseconds(micros)); }, stream);
}

cudaError_t launchOfModule(uint32_t, uint32_t* counter, cudaStream_t stream) {
  return put([=] { __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED); }, stream);
}

Features leftOutHere(Features features) {
  features.leaveOut(Feature::perThread);  // simulated devices don't know that handle
  return features;
}

}  // namespace dfccl::gpu::programs
