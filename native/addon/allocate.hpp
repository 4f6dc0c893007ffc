#pragma once
#include <napi.h>

namespace dfccl::addon {

/// allocate(bytes): an ArrayBuffer of zeroed memory on a page boundary, which vector and streaming stores like best.
Napi::Value allocate(const Napi::CallbackInfo& info);
/// addressOf(view or buffer): where its first byte lies, as a Number (addresses are below 2^48).
Napi::Value addressOf(const Napi::CallbackInfo& info);

}  // namespace dfccl::addon
