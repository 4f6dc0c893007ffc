#pragma once
#include <napi.h>

namespace dfccl::addon {

/// GpuReport as a plain object: what `dfccl doctor` shows, and why `backend: "cuda"` doesn't work here.
Napi::Value gpus(const Napi::CallbackInfo& info);

}  // namespace dfccl::addon
