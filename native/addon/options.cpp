#include "options.hpp"

#include <cstring>

#include "arguments.hpp"
#include "base/error.hpp"
#include "joining.hpp"
#include "signatures.hpp"
#include "world/defaults.hpp"

namespace dfccl::addon {
namespace {

double number(const Napi::Object& object, const char* field) {
  const Napi::Value value = object.Get(field);
  if (!value.IsNumber()) {
    throw Error(dfcclInvalidArgument, std::string("Field ") + field + " is not a number.", "Pass a number.",
                {{"field", field}});
  }
  return value.As<Napi::Number>().DoubleValue();
}

template <class T>
T whole(const Napi::Object& object, const char* field, double most) {
  const double value = number(object, field);
  if (!(value >= 0 && value <= most) || value != static_cast<double>(static_cast<uint64_t>(value))) {
    throw Error(dfcclInvalidArgument, std::string("Field ") + field + " is " + std::to_string(value) + ".",
                "Pass a whole number from 0 to " + std::to_string(static_cast<uint64_t>(most)) + ".",
                {{"field", field}});
  }
  return static_cast<T>(value);
}

/// A typed array of these elements. @throws Error dfcclInvalidArgument
template <class Array>
Array elements(const Napi::Object& object, const char* field, napi_typedarray_type type) {
  const Napi::Value value = object.Get(field);
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != type) {
    throw Error(dfcclInvalidArgument, std::string("Field ") + field + " is not the typed array that it has to be.",
                "Pass a typed array of the right elements.", {{"field", field}});
  }
  return value.As<Array>();
}

}  // namespace

WorldOptions readWorldOptions(const Napi::Object& object) {
  WorldOptions o;
  o.ranks = whole<uint32_t>(object, "ranks", kMax32);
  o.limits.grid = whole<uint32_t>(object, "grid", kMax32);
  o.limits.submissionSlots = whole<uint32_t>(object, "submissionSlots", kMax32);
  o.limits.completionSlots = whole<uint32_t>(object, "completionSlots", kMax32);
  o.limits.collectives = whole<uint32_t>(object, "collectives", kMax32);
  o.limits.tasks = whole<uint32_t>(object, "tasks", kMax32);
  o.tiles.slotPayloadBytes = whole<uint64_t>(object, "slotPayloadBytes", kMax53);
  o.tiles.directTileBytes = whole<uint64_t>(object, "directTileBytes", kMax53);
  o.arenaBytes = whole<size_t>(object, "arenaBytes", kMax53);
  o.workers = whole<uint32_t>(object, "workers", kMax32);
  // What joinSegment() gave: the world has that rank only.
  if (object.Get("segment").IsExternal()) {
    const Joined& joined = *object.Get("segment").As<Napi::External<Joined>>().Data();
    o.segment = joined.segment;
    o.network = joined.network;
    o.muteMillis = whole<uint32_t>(object, "muteMillis", kMax32);
  }
  if (object.Get("backend").IsString() && object.Get("backend").As<Napi::String>().Utf8Value() == "cuda") {
    o.backend = BackendKind::cuda;
    o.tiles.directTurnBytes = dfccl::defaultOptions(o.backend).tiles.directTurnBytes;
  }
  if (!object.Get("devices").IsUndefined()) {
    const auto devices = elements<Napi::Int32Array>(object, "devices", napi_int32_array);
    o.devices.assign(devices.Data(), devices.Data() + devices.ElementLength());
  }
  const auto policy = elements<Napi::Uint8Array>(object, "policy", napi_uint8_array);
  if (policy.ByteLength() != sizeof o.policy) {
    throw Error(dfcclInvalidArgument,
                "The policy has " + std::to_string(policy.ByteLength()) + " bytes instead of " +
                    std::to_string(sizeof o.policy) + ".",
                "Encode it with @dfccl/scheduler's encodePolicy().", {{"field", "policy"}});
  }
  std::memcpy(&o.policy, policy.Data(), sizeof o.policy);
  return o;
}

CollectiveSpec readCollectiveSpec(const Napi::Object& object) {
  CollectiveSpec spec;
  spec.id = readCollectiveId(object.Get("id"));
  if (spec.id.isSignature()) spec.signature = readSignatureFacts(object);
  spec.collective = static_cast<Collective>(whole<uint8_t>(object, "collective", 255));
  spec.type = static_cast<DataType>(whole<uint8_t>(object, "dataType", 255));
  spec.op = static_cast<ReduceOp>(whole<uint8_t>(object, "op", 255));
  spec.count = whole<uint64_t>(object, "count", kMax53);
  spec.countPerRun = object.Get("countPerRun").ToBoolean();
  spec.root = whole<uint32_t>(object, "root", kMax32);
  spec.scale = number(object, "scale");
  const double priority = number(object, "priority");
  if (!(priority >= -2147483648.0 && priority <= 2147483647.0)) {
    throw Error(dfcclInvalidArgument, "Field priority is " + std::to_string(priority) + ".",
                "Pass a whole number of 32 bits.", {{"field", "priority"}});
  }
  spec.priority = static_cast<int32_t>(priority);
  const auto ranks = elements<Napi::Uint32Array>(object, "ranks", napi_uint32_array);
  spec.ranks.assign(ranks.Data(), ranks.Data() + ranks.ElementLength());
  const auto program = elements<Napi::Uint8Array>(object, "program", napi_uint8_array);
  spec.program.assign(program.Data(), program.Data() + program.ByteLength());
  return spec;
}

}  // namespace dfccl::addon
