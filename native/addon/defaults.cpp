#include "defaults.hpp"

#include <cstring>
#include <string>

#include "arguments.hpp"
#include "error_conversion.hpp"
#include "world/defaults.hpp"

namespace dfccl::addon {
namespace {

Napi::Uint8Array bytesOf(Napi::Env env, const scheduling::SchedulePolicy& policy) {
  Napi::Uint8Array bytes = Napi::Uint8Array::New(env, sizeof policy);
  std::memcpy(bytes.Data(), &policy, sizeof policy);
  return bytes;
}

/// @throws Error dfcclInvalidArgument
template <class T, size_t n>
T choice(const Napi::CallbackInfo& info, size_t at, const char* name, const std::pair<const char*, T> (&choices)[n]) {
  const std::string text = info[at].IsString() ? info[at].As<Napi::String>().Utf8Value() : "";
  std::string allowed;
  for (const auto& [known, value] : choices) {
    if (text == known) return value;
    allowed += (allowed.empty() ? "" : ", ") + std::string(known);
  }
  throw Error(dfcclInvalidArgument, std::string("The argument ") + name + " is \"" + text + "\".",
              "Pass one of " + allowed + ".", {{"field", name}});
}

}  // namespace

Napi::Object showOptions(Napi::Env env, const WorldOptions& options) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("grid", options.limits.grid);
  object.Set("submissionSlots", options.limits.submissionSlots);
  object.Set("completionSlots", options.limits.completionSlots);
  object.Set("collectives", options.limits.collectives);
  object.Set("tasks", options.limits.tasks);
  object.Set("slotPayloadBytes", static_cast<double>(options.tiles.slotPayloadBytes));
  object.Set("directTileBytes", static_cast<double>(options.tiles.directTileBytes));
  object.Set("arenaBytes", static_cast<double>(options.arenaBytes));
  object.Set("workers", options.workers);
  object.Set("policy", bytesOf(env, options.policy));
  return object;
}

Napi::Value defaultOptions(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const auto backend =
        choice<BackendKind>(info, 0, "backend", {{"cpu", BackendKind::cpu}, {"cuda", BackendKind::cuda}});
    const auto ranks = static_cast<uint32_t>(wholeArgument(info, 1, "ranks", kMax32));
    const auto span = choice<Span>(
        info, 2, "span", {{"process", Span::process}, {"machine", Span::machine}, {"machines", Span::machines}});
    WorldOptions options = dfccl::defaultOptions(backend, ranks, span);
    if (!info[3].IsUndefined()) {
      options.limits.collectives = static_cast<uint32_t>(wholeArgument(info, 3, "collectives", kMax32));
      options.limits.tasks = defaultTasks(backend, options.limits.collectives);
    }
    Napi::Object object = showOptions(info.Env(), options);
    object.Set("inOrderPolicy", bytesOf(info.Env(), inOrderPolicy(backend, 1)));
    return object;
  });
}

}  // namespace dfccl::addon
