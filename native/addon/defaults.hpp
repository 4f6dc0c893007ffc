#pragma once
#include <napi.h>

#include "world/world_options.hpp"

namespace dfccl::addon {

/// As packages/core (src/native-addon/native-world.ts, NativeOptions) reads them.
Napi::Object showOptions(Napi::Env env, const WorldOptions& options);

// defaultOptions(backend, ranks, span, collectives?): NativeDefaults; what follows from a number of collectives does so
Napi::Value defaultOptions(const Napi::CallbackInfo& info);

}  // namespace dfccl::addon
