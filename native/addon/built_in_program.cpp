#include "built_in_program.hpp"

#include <algorithm>
#include <vector>

#include "world/builtin_programs.hpp"
#include "world/connected_programs.hpp"
#include "world/large_programs.hpp"

namespace dfccl::addon {

Napi::Value builtInProgram(const Napi::CallbackInfo& info) {
  const auto argument = [&](size_t at) { return info[at].As<Napi::Number>().Uint32Value(); };
  const auto collective = static_cast<Collective>(argument(0));
  std::vector<uint8_t> bytes;
  if (info[4].IsTypedArray()) {
    const auto hosts = info[4].As<Napi::Uint32Array>();
    bytes = buildConnectedProgram(collective, {hosts.Data(), hosts.Data() + hosts.ElementLength()}, argument(2),
                                  argument(3), argument(5));
  } else if (info[5].IsNumber()) {
    bytes = buildLargeProgram(collective, argument(1), argument(2), argument(3), argument(5));
  } else {
    bytes = buildDirectProgram(collective, argument(1), argument(2), argument(3));
  }
  Napi::Uint8Array array = Napi::Uint8Array::New(info.Env(), bytes.size());
  std::copy(bytes.begin(), bytes.end(), array.Data());
  return array;
}

}  // namespace dfccl::addon
