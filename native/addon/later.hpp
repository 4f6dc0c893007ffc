#pragma once
#include <napi.h>

#include <functional>

namespace dfccl::addon {

/// Runs `work` on a thread of Node's pool. @param held stays alive for so long; may be empty. @return a promise, which
/// rejects with what `work` throws.
Napi::Promise later(Napi::Env env, const Napi::Object& held, std::function<void()> work);

}  // namespace dfccl::addon
