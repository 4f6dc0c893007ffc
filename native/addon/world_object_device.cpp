// Memory on a rank's GPU.
#include "arguments.hpp"
#include "error_conversion.hpp"
#include "later.hpp"
#include "world/refusals.hpp"
#include "world_object.hpp"

namespace dfccl::addon {

// deviceOf(rank): its GPU, or -1.
Napi::Value WorldObject::deviceOf(Info info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const uint32_t rank = rankOf(info);
    return Napi::Number::New(info.Env(), world_->deviceOf(rank));
  });
}

// allocateOnDevice(rank, bytes): the address of zeroed memory on the rank's GPU.
Napi::Value WorldObject::allocateOnDevice(Info info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const uint32_t rank = rankOf(info);
    const size_t bytes = wholeArgument(info, 1, "bytes");
    checkAllocation(bytes);
    return Napi::Number::New(info.Env(),
                             static_cast<double>(reinterpret_cast<uintptr_t>(world_->allocate(rank, bytes))));
  });
}

// windowOf(rank, address, isStaged): the number by which other processes are told of device memory, or 0xffff: not yet.
Napi::Value WorldObject::windowOf(Info info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const uint32_t rank = rankOf(info);
    RunShape shape;
    shape.sendBytes = 1;
    shape.stagesUnmapped = info[2].ToBoolean();
    return Napi::Number::New(info.Env(), world_->windowsOf(rank, shape, addressArgument(info, 1), nullptr).send);
  });
}

Napi::Value WorldObject::freeOnDevice(Info info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const uint32_t rank = rankOf(info);
    world_->free(rank, addressArgument(info, 1), wholeArgument(info, 2, "bytes"));
    return info.Env().Undefined();
  });
}

// copyIn(rank, address, bytes): a promise.
Napi::Value WorldObject::copyIn(Info info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const uint32_t rank = rankOf(info);
    const Bytes from = bytesArgument(info, 2);
    return later(info.Env(), info[2].As<Napi::Object>(), [world = world_, rank, to = addressArgument(info, 1), from] {
      world->copyIn(rank, to, from.data, from.length);
    });
  });
}

// copyOut(rank, bytes, address): a promise.
Napi::Value WorldObject::copyOut(Info info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const uint32_t rank = rankOf(info);
    const Bytes to = bytesArgument(info, 1);
    return later(info.Env(), info[1].As<Napi::Object>(), [world = world_, rank, to, from = addressArgument(info, 2)] {
      world->copyOut(rank, to.data, from, to.length);
    });
  });
}

// synchronizeLater(rank): a promise of the end of a device synchronization.
Napi::Value WorldObject::synchronizeLater(Info info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const uint32_t rank = rankOf(info);
    return later(info.Env(), Napi::Object(), [world = world_, rank] { world->synchronize(rank, 0); });
  });
}

}  // namespace dfccl::addon
