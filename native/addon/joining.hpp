#pragma once
#include <napi.h>

#include <memory>

#include "world/world_options.hpp"

namespace dfccl::addon {

/// What a meeting gives: the memory of this machine's ranks, and the way to the others', if there are any.
struct Joined {
  std::shared_ptr<Segment> segment;
  std::shared_ptr<Network> network;
};

/// readLaunch(env): {launcher, rank, size, job, address?, host?} as the launcher left them in these variables; null if
/// none did.
Napi::Value readLaunch(const Napi::CallbackInfo& info);

/// joinSegment(options, {job, rank, timeoutMillis, address?, secret?, host?}): {segment, cancel}: a promise of what the
/// job's processes share, for the options of NativeWorld, and a function that gives the meeting up.
Napi::Value joinSegment(const Napi::CallbackInfo& info);

/// transport(): what would carry data between machines here, and its version; an error says what is missing.
Napi::Value transport(const Napi::CallbackInfo& info);

}  // namespace dfccl::addon
