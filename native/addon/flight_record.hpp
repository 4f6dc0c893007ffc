#pragma once
#include <napi.h>

namespace dfccl::addon {

/// flightRecord(WorldStatus, rank, milliseconds since 1970): the rank's flight record, a line of JSON.
Napi::Value flightRecord(const Napi::CallbackInfo& info);
/// writeFlightRecord(path, JSON): whole or not at all.
Napi::Value writeFlightRecord(const Napi::CallbackInfo& info);

}  // namespace dfccl::addon
