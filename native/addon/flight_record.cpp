#include "flight_record.hpp"

#include <algorithm>

#include "error_conversion.hpp"
#include "processes/flight_record.hpp"
#include "processes/write_flight_record.hpp"
#include "world/collective_spec.hpp"

namespace dfccl::addon {
namespace {

template <class T, class Convert>
std::vector<T> listOf(const Napi::Value& value, const Convert& convert) {
  if (!value.IsArray())
    throw Error(dfcclInvalidArgument, "The world's collectives, or their members, are no list.",
                "Pass what inspectWorlds() gives.");
  const Napi::Array array = value.As<Napi::Array>();
  std::vector<T> list;
  for (uint32_t i = 0; i < array.Length(); ++i) list.push_back(convert(array.Get(i).ToObject()));
  return list;
}

/// The code of a name. @throws Error dfcclInvalidArgument
template <class Code>
Code codeOf(const Napi::Value& value, int count) {
  const std::string name = value.ToString();
  for (int code = 0; code < count; ++code) {
    if (name == nameOf(static_cast<Code>(code))) return static_cast<Code>(code);
  }
  throw Error(dfcclInvalidArgument, "A collective of the world is of \"" + name + "\", which is unknown here.",
              "Pass what inspectWorlds() of this version gives.", {{"value", name}});
}

/// Goes into the record as it is. @return "" where an older version has written none. @throws Error
/// dfcclInvalidArgument
std::string nameIn(const Napi::Value& value) {
  if (!value.IsString()) return {};
  std::string name = value.As<Napi::String>();
  const auto isPlain = [](unsigned char c) { return c >= 0x20 && c != '"' && c != '\\'; };
  if (std::all_of(name.begin(), name.end(), isPlain)) return name;
  throw Error(dfcclInvalidArgument, "A collective of the world has a name that is none: " + name + ".",
              "Pass what inspectWorlds() gives.", {{"value", name}});
}

MemberStatus memberOf(const Napi::Object& o) {
  const auto number = [&](const char* name) { return static_cast<uint64_t>(o.Get(name).ToNumber().Int64Value()); };
  return {static_cast<uint32_t>(number("rank")),
          o.Get("registered").ToBoolean(),
          o.Get("left").ToBoolean(),
          number("submitted"),
          number("finished"),
          number("waitingMs")};
}

CollectiveStatus collectiveOf(const Napi::Object& o) {
  return {o.Get("id").ToNumber().Uint32Value(),
          codeOf<Collective>(o.Get("collective"), kCollectiveCount),
          codeOf<DataType>(o.Get("dataType"), kDataTypeCount),
          static_cast<uint64_t>(o.Get("count").ToNumber().Int64Value()),
          o.Get("aborted").ToBoolean(),
          listOf<MemberStatus>(o.Get("members"), memberOf),
          nameIn(o.Get("name"))};
}

}  // namespace

Napi::Value flightRecord(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    WorldStatus world{};
    world.collectives = listOf<CollectiveStatus>(info[0].ToObject().Get("collectives"), collectiveOf);
    return Napi::String::New(info.Env(),
                             flightRecordOf(world, info[1].ToNumber().Uint32Value(), info[2].ToNumber().Int64Value()));
  });
}

Napi::Value writeFlightRecord(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    if (!info[0].IsString() || !info[1].IsString())
      throw Error(dfcclInvalidArgument, "The path, or the record, is no text.", "Pass a path, and the record as JSON.");
    dfccl::writeFlightRecord(info[0].ToString(), info[1].ToString());
    return info.Env().Undefined();
  });
}

}  // namespace dfccl::addon
