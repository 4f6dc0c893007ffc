#include "built_in_program.hpp"

#include <algorithm>
#include <vector>

#include "world/builtin_programs.hpp"

namespace dfccl::addon {

Napi::Value builtInProgram(const Napi::CallbackInfo& info) {
  const auto argument = [&](size_t at) { return info[at].As<Napi::Number>().Uint32Value(); };
  const std::vector<uint8_t> bytes =
      buildDirectProgram(static_cast<Collective>(argument(0)), argument(1), argument(2), argument(3));
  Napi::Uint8Array array = Napi::Uint8Array::New(info.Env(), bytes.size());
  std::copy(bytes.begin(), bytes.end(), array.Data());
  return array;
}

}  // namespace dfccl::addon
