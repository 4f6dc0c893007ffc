// Functions of the host in place of kernels: simulated devices have their memory where the host reaches it.
#include <chrono>
#include <thread>

#include "stream_programs/user_kernels.hpp"

#if __has_include("simulated/modules.hpp")
#include "simulated/modules.hpp"
#define PROGRAMS_HAS_MODULES
#endif

namespace dfccl::gpu::programs {
namespace {

/// Modules of this process, as many as kernels here have files on a GPU; behind them, those of launchOfModule().
enum Module : int { kFilling, kChecking, kComputing, kFirstOfPrograms };

#if defined(PROGRAMS_HAS_MODULES)
/// @param kernel of the module: as many as there are instances on a GPU.
template <class Function>
cudaError_t put(Module module, Function function, cudaStream_t stream, ElementType kernel = {}) {
  return simulated::launchUserKernel(stream, module, std::move(function), static_cast<int>(kernel));
}
#else
template <class Function>
cudaError_t put(Module, Function function, cudaStream_t stream, ElementType = {}) {
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
#endif

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
  return put(
      kFilling, [=] { withType(type, [&](auto zero) { fill<decltype(zero)>(memory, pattern); }); }, stream, type);
}

cudaError_t launchCheck(const void* memory, ElementType type, const Pattern& pattern, Verdict* verdict, uint32_t check,
                        cudaStream_t stream) {
  return put(
      kChecking,
      [=] {
        withType(type, [&](auto zero) {
          const uint32_t wrong = wrongOf<decltype(zero)>(memory, pattern);
          if (wrong == 0) return;
          __atomic_fetch_add(&verdict->wrong, wrong, __ATOMIC_RELAXED);
          __atomic_store_n(&verdict->first, check + 1, __ATOMIC_RELAXED);
        });
      },
      stream, type);
}

cudaError_t launchCompute(uint32_t micros, cudaStream_t stream) {
  return put(
      kComputing, [=] { std::this_thread::sleep_for(std::chrono::microseconds(micros)); }, stream);
}

cudaError_t launchOfModule(uint32_t number, uint32_t* counter, cudaStream_t stream) {
  return put(
      static_cast<Module>(kFirstOfPrograms + number), [=] { __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED); },
      stream);
}

Features leftOutHere(Features features) {
#if !defined(PROGRAMS_HAS_MODULES)
  features.leaveOut(Feature::perThread);  // such devices don't know that handle
#endif
  return features;
}

}  // namespace dfccl::gpu::programs
