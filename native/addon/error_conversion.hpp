#pragma once
#include <napi.h>

#include <new>
#include <utility>

#include "base/error.hpp"

namespace dfccl::addon {

/// A native failure as a JavaScript error with {status, facts, remedy}; packages/core turns it into a typed one.
Napi::Error toJavaScript(Napi::Env env, const Error& error);

/// Runs `body`; what it throws crosses the border as a JavaScript exception.
template <class Body>
Napi::Value guarded(Napi::Env env, Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const Error& error) {
    throw toJavaScript(env, error);
  } catch (const std::bad_alloc&) {
    throw toJavaScript(env,
                       Error(dfcclOutOfMemory, "The process is out of memory.", "Free some, or use smaller worlds."));
  }
}

}  // namespace dfccl::addon
