#include "signatures.hpp"

#include <cmath>
#include <string>
#include <utility>

#include "arguments.hpp"
#include "error_conversion.hpp"
#include "matching/signature.hpp"

namespace dfccl::addon {
namespace {

[[noreturn]] void refuse(const char* field, const char* expected) {
  throw Error(dfcclInvalidArgument, std::string("Field ") + field + " is not what it has to be.",
              std::string("Pass ") + expected + ".", {{"field", field}});
}

uint64_t wordOf(const Napi::Value& value, const char* field) {
  bool isLossless = false;
  if (value.IsBigInt()) {
    const uint64_t word = value.As<Napi::BigInt>().Uint64Value(&isLossless);
    if (isLossless) return word;
  }
  refuse(field, "a BigInt from 0 to 2^64 - 1");
}

uint64_t wholeOf(const Napi::Object& object, const char* field, double most = kMax53) {
  const Napi::Value value = object.Get(field);
  const double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : -1;
  if (!(number >= 0 && number <= most) || number != std::trunc(number)) refuse(field, "a whole number in its range");
  return static_cast<uint64_t>(number);
}

std::pair<uint64_t, uint64_t> pairOf(const Napi::Value& value, const char* field) {
  if (!value.IsObject()) refuse(field, "{ high, low }");
  const Napi::Object object = value.As<Napi::Object>();
  return {wordOf(object.Get("high"), "high"), wordOf(object.Get("low"), "low")};
}

Napi::Object shown(Napi::Env env, uint64_t high, uint64_t low) {
  Napi::Object pair = Napi::Object::New(env);
  pair.Set("high", Napi::BigInt::New(env, high));
  pair.Set("low", Napi::BigInt::New(env, low));
  return pair;
}

GroupId groupOf(const Napi::Value& value) {
  const auto [high, low] = pairOf(value, "group");
  return {high, low};
}

}  // namespace

Napi::Value groupId(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    if (!info[0].IsTypedArray() || info[0].As<Napi::TypedArray>().TypedArrayType() != napi_uint32_array)
      refuse("ranks", "a Uint32Array");
    const auto ranks = info[0].As<Napi::Uint32Array>();
    const GroupId id =
        GroupId::of({ranks.Data(), ranks.ElementLength()}, wordOf(info[1], "name"), wordOf(info[2], "ordinal"));
    return shown(info.Env(), id.high, id.low);
  });
}

Napi::Value nameOfPart(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const GroupId group = groupOf(info[0]);
    return Napi::BigInt::New(info.Env(),
                             group.nameOfPart(wholeArgument(info, 1, "split"), numberArgument(info, 2, "colour")));
  });
}

Napi::Value signatureId(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    if (!info[0].IsObject()) refuse("signature", "an object");
    const Napi::Object object = info[0].As<Napi::Object>();
    Signature signature;
    signature.group = groupOf(object.Get("group"));
    const SignatureFacts facts = readSignatureFacts(object);
    signature.purpose = facts.purpose;
    signature.tag = facts.tag;
    signature.collective = static_cast<Collective>(wholeOf(object, "collective", kCollectiveCount - 1));
    signature.type = static_cast<DataType>(wholeOf(object, "dataType", kDataTypeCount - 1));
    signature.op = static_cast<ReduceOp>(wholeOf(object, "op", kReduceOpCount - 1));
    signature.root = static_cast<uint32_t>(wholeOf(object, "root", kMax32));
    signature.receiver = static_cast<uint32_t>(wholeOf(object, "receiver", kMax32));
    signature.count = wholeOf(object, "count");
    signature.countsHash = wholeOf(object, "countsHash");
    const CollectiveId id = idOf(signature);
    return shown(info.Env(), id.high, id.low);
  });
}

SignatureFacts readSignatureFacts(const Napi::Object& object) {
  return {static_cast<Purpose>(wholeOf(object, "purpose", static_cast<double>(Purpose::scatterV))),
          wordOf(object.Get("tag"), "tag")};
}

CollectiveId readCollectiveId(const Napi::Value& value) {
  if (value.IsObject()) {
    const auto [high, low] = pairOf(value, "id");
    if ((high | low) == 0) refuse("id", "what signatureId() gave");
    return CollectiveId::ofSignature(high, low);
  }
  const double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : -1;
  if (!(number >= 0 && number <= kMax32) || number != std::trunc(number)) {
    throw Error(dfcclInvalidArgument, "Field id is no whole number of 32 bits, nor a signature's.",
                "Pass a whole number from 0 to 4294967295, or what signatureId() gave.", {{"field", "id"}});
  }
  return static_cast<uint32_t>(number);
}

}  // namespace dfccl::addon
