// What a world of several processes has beyond the others.
#include <algorithm>
#include <utility>

#include "allocate.hpp"
#include "arguments.hpp"
#include "error_conversion.hpp"
#include "network/network.hpp"
#include "processes/segment.hpp"
#include "world/refusals.hpp"
#include "world_object.hpp"

namespace dfccl::addon {
namespace {

Napi::Array arrayOf(Napi::Env env, const std::vector<uint32_t>& numbers) {
  Napi::Array array = Napi::Array::New(env, numbers.size());
  for (uint32_t i = 0; i < numbers.size(); ++i) array.Set(i, numbers[i]);
  return array;
}

}  // namespace

struct SharedBuffer {
  std::shared_ptr<Segment> segment;  // stays mapped for as long as the buffer lives
  std::shared_ptr<SharedBuffers> all;
  uint8_t* memory;  // null: it has been freed, and may be another buffer's by now
  size_t bytes;

  void free(Napi::Env env) {
    if (memory == nullptr) return;
    all->erase(memory);
    segment->freeBuffer(std::exchange(memory, nullptr), bytes);
    Napi::MemoryManagement::AdjustExternalMemory(env, -static_cast<int64_t>(bytes));
  }
};

// allocate(bytes): memory that the other processes can reach.
Napi::Value WorldObject::allocate(Info info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const std::shared_ptr<Segment>& segment = world(info.Env()).options().segment;
    if (!segment) {
      throw Error(dfcclInvalidArgument, "The world is not one of processes.", "Pass the bytes to a joined world.");
    }
    const size_t bytes = bytesOfBuffer(info, 0);
    if (bytes == 0) return Napi::ArrayBuffer::New(info.Env(), 0);
    checkAllocation(bytes, segment->end() - segment->begin());
    uint8_t* memory = segment->allocateBuffer(bytes);
    Napi::MemoryManagement::AdjustExternalMemory(info.Env(), static_cast<int64_t>(bytes));
    auto* const buffer = new SharedBuffer{segment, buffers_, memory, bytes};
    buffers_->emplace(memory, buffer);
    return Napi::ArrayBuffer::New(
        info.Env(), memory, bytes,
        [](Napi::Env env, void*, SharedBuffer* collected) {
          collected->free(env);
          delete collected;
        },
        buffer);
  });
}

// free(buffer): what allocate() gave, at once rather than when it is collected; the buffer is detached.
Napi::Value WorldObject::free(Info info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const auto found = info[0].IsArrayBuffer()
                           ? buffers_->find(static_cast<uint8_t*>(info[0].As<Napi::ArrayBuffer>().Data()))
                           : buffers_->end();
    if (found == buffers_->end()) {
      throw Error(dfcclInvalidArgument, "The buffer is none that this world has allocated, or was freed.",
                  "Pass an ArrayBuffer that allocate() gave.", {{"field", "buffer"}});
    }
    SharedBuffer& buffer = *found->second;
    info[0].As<Napi::ArrayBuffer>().Detach();
    buffer.free(info.Env());
    return info.Env().Undefined();
  });
}

// window(): {begin, end} of the memory that the other processes can reach; null where there is no other process, or
// where they map memory wherever it lies.
Napi::Value WorldObject::window(Info info) {
  const Segment* segment = world(info.Env()).options().segment.get();
  if (segment == nullptr || world(info.Env()).options().backend != BackendKind::cpu) return info.Env().Null();
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("begin", static_cast<double>(segment->begin()));
  result.Set("end", static_cast<double>(segment->end()));
  return result;
}

// hosts(): Uint32Array of the ranks' machines; null where all are on this one.
Napi::Value WorldObject::hosts(Info info) {
  const Network* network = world(info.Env()).options().network.get();
  if (network == nullptr) return info.Env().Null();
  Napi::Uint32Array result = Napi::Uint32Array::New(info.Env(), network->hostOf.size());
  std::copy(network->hostOf.begin(), network->hostOf.end(), result.Data());
  return result;
}

// whyAborted(rank, handle): how another rank registered it differently; "" where none did.
Napi::Value WorldObject::whyAborted(Info info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const auto argument = [&](size_t at) {
      return static_cast<uint32_t>(wholeArgument(info, at, "rank or index", kMax32));
    };
    return Napi::String::New(info.Env(), world(info.Env()).whyAborted(argument(0), argument(1)));
  });
}

// lostRanks(rank?, handle?): {rank, presence}[] of ranks that are gone; those, too, of whom only others know yet and
// for whom this collective was given up.
Napi::Value WorldObject::lostRanks(Info info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const auto argument = [&](size_t at) {
      return static_cast<uint32_t>(wholeArgument(info, at, "rank or index", kMax32));
    };
    auto& ofProcess = world(info.Env());
    const auto lost = info.Length() < 2 ? ofProcess.lostRanks() : ofProcess.lostFor(argument(0), argument(1));
    Napi::Array result = Napi::Array::New(info.Env(), lost.size());
    for (uint32_t i = 0; i < lost.size(); ++i) {
      Napi::Object entry = Napi::Object::New(info.Env());
      entry.Set("rank", lost[i].rank);
      entry.Set("presence", nameOf(lost[i].presence));
      result.Set(i, entry);
    }
    return result;
  });
}

// agreeOnSurvivors(): the ranks that go on; null while a rank that lives hasn't come.
Napi::Value WorldObject::agreeOnSurvivors(Info info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const auto survivors = world(info.Env()).agreeOnSurvivors();
    return survivors ? arrayOf(info.Env(), *survivors) : info.Env().Null();
  });
}

// awaitedByAgreement(): the ranks that haven't come.
Napi::Value WorldObject::awaitedByAgreement(Info info) {
  return guarded(info.Env(),
                 [&]() -> Napi::Value { return arrayOf(info.Env(), world(info.Env()).awaitedByAgreement()); });
}

}  // namespace dfccl::addon
