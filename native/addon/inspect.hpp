#pragma once
#include <napi.h>

namespace dfccl::addon {

/// inspectWorlds(): what the worlds of all processes are at that this user may look into (WorldStatus).
Napi::Value inspectWorlds(const Napi::CallbackInfo& info);

}  // namespace dfccl::addon
