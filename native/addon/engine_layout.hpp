#pragma once
#include <napi.h>

namespace dfccl::addon {

/// layout(): the offsets and sizes that both languages rely on, as this build has them. A test compares them with the
/// TypeScript side's constants.
Napi::Value engineLayout(const Napi::CallbackInfo& info);

}  // namespace dfccl::addon
