#include "built_in_program.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "base/error.hpp"
#include "error_conversion.hpp"
#include "world/builtin_programs.hpp"
#include "world/connected_programs.hpp"
#include "world/large_programs.hpp"

namespace dfccl::addon {

namespace {

[[noreturn]] void refuseProgram(const char* field, const char* expected) {
  throw Error(dfcclInvalidArgument, std::string(field) + " is not " + expected + ".",
              std::string("Pass ") + expected + ".", {{"field", field}});
}

}  // namespace

Napi::Value builtInProgram(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    constexpr double kMostRanks = 65'536, kMostLanes = 64;
    constexpr double kLastBuilt = static_cast<double>(Collective::barrier);  // the one behind it is made by its user
    const auto collective = static_cast<Collective>(wholeArgument(info, 0, "collective", kLastBuilt));
    std::vector<uint32_t> hosts;
    if (info[4].IsTypedArray()) {
      if (info[4].As<Napi::TypedArray>().TypedArrayType() != napi_uint32_array) refuseProgram("hosts", "a Uint32Array");
      const auto given = info[4].As<Napi::Uint32Array>();
      hosts.assign(given.Data(), given.Data() + given.ElementLength());
    }
    const auto number = [&](size_t at, const char* name, double least, double most) {
      const uint64_t value = wholeArgument(info, at, name, most);
      if (static_cast<double>(value) < least) refuseProgram(name, "1 or more");
      return static_cast<uint32_t>(value);
    };
    const uint32_t ranks = hosts.empty() ? number(1, "ranks", 1, kMostRanks) : static_cast<uint32_t>(hosts.size());
    const uint32_t rank = number(2, "rank", 0, ranks - 1), root = number(3, "root", 0, ranks - 1);
    std::vector<uint8_t> bytes;
    if (!hosts.empty()) {
      bytes = buildConnectedProgram(collective, hosts, rank, root, number(5, "lanes", 1, kMostLanes));
    } else if (info[5].IsNumber()) {
      if (ranks == 1 || !hasLargeProgram(collective))
        refuseProgram("collective", "one with a program for large buffers");
      bytes = buildLargeProgram(collective, ranks, rank, root, number(5, "lanes", 1, kMostLanes));
    } else {
      bytes = buildDirectProgram(collective, ranks, rank, root);
    }
    Napi::Uint8Array array = Napi::Uint8Array::New(info.Env(), bytes.size());
    std::copy(bytes.begin(), bytes.end(), array.Data());
    return array;
  });
}

}  // namespace dfccl::addon
