#pragma once
#include <napi.h>

#include "world/collective_spec.hpp"
#include "world/world_options.hpp"

namespace dfccl::addon {

/// Reads the object that packages/core (src/native-addon/native-world.ts) passes. Types are its affair; ranges are
/// checked by the engine.
WorldOptions readWorldOptions(const Napi::Object& object);
CollectiveSpec readCollectiveSpec(const Napi::Object& object);

}  // namespace dfccl::addon
