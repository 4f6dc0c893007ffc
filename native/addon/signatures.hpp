#pragma once
#include <napi.h>

#include "world/collective_id.hpp"
#include "world/signature_facts.hpp"

namespace dfccl::addon {

/// By what ranks match runs without ids: computed here for JavaScript too, so that its ranks and those of C programs
/// find each other. 128 bits are {high, low}, a BigInt each.

/// groupId(ranks, name, ordinal): a group's; ranks are a Uint32Array, the other two BigInts.
Napi::Value groupId(const Napi::CallbackInfo& info);

/// nameOfPart(group, split, colour): the name of a part of a group, a BigInt; the other two are numbers.
Napi::Value nameOfPart(const Napi::CallbackInfo& info);

/// signatureId({group, purpose, collective, dataType, op, root, receiver, count, tag}): tag is a BigInt, codes and
/// counts are numbers.
Napi::Value signatureId(const Napi::CallbackInfo& info);

/// {purpose, tag} of what signatureId() was asked for. @throws Error dfcclInvalidArgument
SignatureFacts readSignatureFacts(const Napi::Object& object);

/// A number of the caller's, or what signatureId() gave. @throws Error dfcclInvalidArgument
CollectiveId readCollectiveId(const Napi::Value& value);

}  // namespace dfccl::addon
