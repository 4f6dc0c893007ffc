#pragma once
#include <napi.h>

#include <cstddef>

namespace dfccl::addon {

/// Bytes of a buffer that JavaScript asks for. @throws Error dfcclInvalidArgument; dfcclOutOfMemory for more than this
/// Node has buffers for: it would refuse the memory, give it back later, and have us give it back too.
size_t bytesOfBuffer(const Napi::CallbackInfo& info, size_t at);

/// allocate(bytes): an ArrayBuffer of zeroed memory on a page boundary, which vector and streaming stores like best.
Napi::Value allocate(const Napi::CallbackInfo& info);
/// addressOf(view or buffer): where its first byte lies, as a Number (addresses are below 2^48).
Napi::Value addressOf(const Napi::CallbackInfo& info);

}  // namespace dfccl::addon
