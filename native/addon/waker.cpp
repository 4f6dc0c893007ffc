#include "waker.hpp"

namespace dfccl::addon {

Waker::Waker(Napi::Env env, Napi::Function callback) : env_(env) {
  const napi_value name = Napi::String::New(env, "dfccl waker");
  // A queue of one: wake-ups that nobody has handled yet are one wake-up.
  const napi_status status = napi_create_threadsafe_function(env, callback, nullptr, name, 1, 1, nullptr, nullptr,
                                                             nullptr, nullptr, &function_);
  if (status != napi_ok) throw Napi::Error::New(env, "a thread-safe function can't be created");
  napi_unref_threadsafe_function(env, function_);
}

void Waker::wake() {
  const std::lock_guard lock(mutex_);
  if (function_ == nullptr) return;
  // napi_queue_full: a wake-up is under way already. napi_closing: the environment ends and nobody sleeps in it.
  if (napi_call_threadsafe_function(function_, nullptr, napi_tsfn_nonblocking) == napi_closing) function_ = nullptr;
}

void Waker::reference(bool on) {
  if (function_ == nullptr) return;
  on ? napi_ref_threadsafe_function(env_, function_) : napi_unref_threadsafe_function(env_, function_);
}

void Waker::close() {
  const std::lock_guard lock(mutex_);
  if (function_ == nullptr) return;
  napi_release_threadsafe_function(function_, napi_tsfn_abort);
  function_ = nullptr;
}

}  // namespace dfccl::addon
