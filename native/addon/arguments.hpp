#pragma once
// Arguments of the addon's functions, checked: what they say is used as addresses and sizes.
#include <napi.h>

#include <cstddef>
#include <cstdint>

namespace dfccl::addon {

inline constexpr double kMax32 = 4294967295.0;
inline constexpr double kMax53 = 9007199254740991.0;  // Number.MAX_SAFE_INTEGER

/// @throws Error dfcclInvalidArgument
uint64_t wholeArgument(const Napi::CallbackInfo& info, size_t at, const char* name, double most = kMax53);

/// A rank, or a collective's handle. @throws Error dfcclInvalidArgument
uint32_t numberArgument(const Napi::CallbackInfo& info, size_t at, const char* name);

/// Memory of an object that the engine has given out as a number. @throws Error dfcclInvalidArgument
void* addressArgument(const Napi::CallbackInfo& info, size_t at);

struct Bytes {
  void* data;
  size_t length;
};

/// A Uint8Array. @throws Error dfcclInvalidArgument
Bytes bytesArgument(const Napi::CallbackInfo& info, size_t at);

}  // namespace dfccl::addon
