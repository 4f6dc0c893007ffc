#include "arguments.hpp"

#include <cmath>
#include <string>

#include "base/error.hpp"

namespace dfccl::addon {

uint64_t wholeArgument(const Napi::CallbackInfo& info, size_t at, const char* name, double most) {
  const double value = info.Length() > at && info[at].IsNumber() ? info[at].As<Napi::Number>().DoubleValue() : -1;
  if (!(value >= 0 && value <= most) || value != std::trunc(value)) {
    throw Error(dfcclInvalidArgument, std::string(name) + " is not a whole number, or too large.",
                "Pass a number from 0 to " + std::to_string(static_cast<uint64_t>(most)) + ".", {{"field", name}});
  }
  return static_cast<uint64_t>(value);
}

uint32_t numberArgument(const Napi::CallbackInfo& info, size_t at, const char* name) {
  return static_cast<uint32_t>(wholeArgument(info, at, name, kMax32));
}

void* addressArgument(const Napi::CallbackInfo& info, size_t at) {
  constexpr double kMostAddress = 281474976710655.0;  // 48 bits
  const uint64_t address = wholeArgument(info, at, "address", kMostAddress);
  if (address == 0) {
    throw Error(dfcclInvalidArgument, "address is null.", "Pass one that allocateOnDevice() gave.",
                {{"field", "address"}});
  }
  return reinterpret_cast<void*>(static_cast<uintptr_t>(address));
}

Bytes bytesArgument(const Napi::CallbackInfo& info, size_t at) {
  if (info.Length() <= at || !info[at].IsTypedArray() ||
      info[at].As<Napi::TypedArray>().TypedArrayType() != napi_uint8_array) {
    throw Error(dfcclInvalidArgument, "bytes is no Uint8Array.", "Pass the bytes to copy.", {{"field", "bytes"}});
  }
  auto view = info[at].As<Napi::Uint8Array>();
  return {view.Data(), view.ByteLength()};
}

}  // namespace dfccl::addon
