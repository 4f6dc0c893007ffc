#pragma once
#include <napi.h>

#include <mutex>

namespace dfccl::addon {

/// Wakes a JavaScript thread that sleeps, from a thread that steps. The raw C functions, because a worker that is being
/// terminated refuses the call, which is no reason to abort the process.
class Waker {
 public:
  Waker(Napi::Env env, Napi::Function callback);
  ~Waker() { close(); }
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;

  void wake();
  /// While referenced, the event loop stays alive for the wake-up. JavaScript thread only.
  void reference(bool on);
  /// JavaScript thread only. Nothing is called afterwards.
  void close();

 private:
  Napi::Env env_;
  std::mutex mutex_;
  napi_threadsafe_function function_ = nullptr;
};

}  // namespace dfccl::addon
