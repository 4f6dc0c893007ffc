#pragma once
#include <napi.h>

namespace dfccl::addon {

/// readLaunch(env): {launcher, rank, size, job} as the launcher left them in these variables; null if none did.
Napi::Value readLaunch(const Napi::CallbackInfo& info);

/// joinSegment(options, {job, rank, timeoutMillis}): {segment, cancel}: a promise of the memory that the job's
/// processes share, for the options of NativeWorld, and a function that gives the meeting up.
Napi::Value joinSegment(const Napi::CallbackInfo& info);

}  // namespace dfccl::addon
