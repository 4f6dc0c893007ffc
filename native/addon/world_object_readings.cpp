// How a world and its collectives are doing.
#include "arguments.hpp"
#include "error_conversion.hpp"
#include "world/collective_name.hpp"
#include "world_object.hpp"

namespace dfccl::addon {

Napi::Value WorldObject::explain(Info info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const uint32_t rank = rankOf(info);
    const auto members = world_->explain(rank, numberArgument(info, 1, "index"));
    Napi::Array result = Napi::Array::New(info.Env(), members.size());
    for (uint32_t i = 0; i < members.size(); ++i) {
      Napi::Object member = Napi::Object::New(info.Env());
      member.Set("rank", members[i].rank);
      member.Set("registered", members[i].registered);
      member.Set("submitted", static_cast<double>(members[i].submitted));
      member.Set("finished", static_cast<double>(members[i].finished));
      result.Set(i, member);
    }
    return result;
  });
}

// otherCalls(rank, index): {rank, difference}[] of members who have made another call in its place.
Napi::Value WorldObject::otherCalls(Info info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const uint32_t rank = rankOf(info);
    const std::vector<OtherCall> calls = world_->otherCalls(rank, numberArgument(info, 1, "index"));
    Napi::Array result = Napi::Array::New(info.Env(), calls.size());
    for (uint32_t i = 0; i < calls.size(); ++i) {
      Napi::Object call = Napi::Object::New(info.Env());
      call.Set("rank", calls[i].rank);
      call.Set("difference", calls[i].difference);
      result.Set(i, call);
    }
    return result;
  });
}

// mismatchedCounts(rank, index): of each member, in the last run in which they differed; [] where none did.
Napi::Value WorldObject::mismatchedCounts(Info info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const uint32_t rank = rankOf(info);
    const std::vector<uint64_t> counts = world_->mismatchedCounts(rank, numberArgument(info, 1, "index"));
    Napi::Array result = Napi::Array::New(info.Env(), counts.size());
    for (uint32_t i = 0; i < counts.size(); ++i) result.Set(i, static_cast<double>(counts[i]));
    return result;
  });
}

// nameOf(rank, index): what reports call it.
Napi::Value WorldObject::collectiveName(Info info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const uint32_t rank = rankOf(info);
    return Napi::String::New(info.Env(), nameOf(world_->specOf(rank, numberArgument(info, 1, "index"))));
  });
}

// placements(rank, index): how the buffers of its runs may lie.
Napi::Value WorldObject::placements(Info info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const uint32_t rank = rankOf(info);
    const RunShape shape = world_->shapeOf(rank, numberArgument(info, 1, "index"));
    Napi::Object result = Napi::Object::New(info.Env());
    result.Set("inPlace", shape.mayBeInPlace);
    result.Set("outOfPlace", shape.mayBeOutOfPlace);
    // Or its ranks reach memory of any kind.
    result.Set("needsReach", shape.windowBegin != 0);
    result.Set("staged", shape.stagesUnmapped);
    return result;
  });
}

// counters(rank): {rank: number[8], blocks: number[][16]} in the order of daemon/state/counters.hpp.
Napi::Value WorldObject::counters(Info info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const CounterReading reading = world(info.Env()).readCounters(rankOf(info));
    const auto words = [&](const void* memory, uint32_t count) {
      const auto* counter = static_cast<const Counter*>(memory);
      Napi::Array array = Napi::Array::New(info.Env(), count);
      for (uint32_t i = 0; i < count; ++i) array.Set(i, static_cast<double>(counter[i].read()));
      return array;
    };
    Napi::Object result = Napi::Object::New(info.Env());
    result.Set("rank", words(&reading.rank, sizeof reading.rank / sizeof(Counter)));
    Napi::Array blocks = Napi::Array::New(info.Env(), reading.blocks.size());
    for (uint32_t b = 0; b < reading.blocks.size(); ++b)
      blocks.Set(b, words(&reading.blocks[b], sizeof(BlockCounters) / sizeof(Counter)));
    result.Set("blocks", blocks);
    return result;
  });
}

// memoryUse(rank, index): bytes that a collective takes on a rank; without arguments, of the arena.
Napi::Value WorldObject::memoryUse(Info info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    if (info.Length() == 0)
      return Napi::Number::New(info.Env(), static_cast<double>(world(info.Env()).arenaUsedBytes()));
    const uint32_t rank = rankOf(info);
    return Napi::Number::New(info.Env(),
                             static_cast<double>(world_->memoryBytesOf(rank, numberArgument(info, 1, "index"))));
  });
}

Napi::Value WorldObject::deadlock(Info info) {
  const std::unique_ptr<DeadlockReport> report = world(info.Env()).deadlock();
  if (!report) return info.Env().Null();
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("text", report->text);
  Napi::Array cycle = Napi::Array::New(info.Env(), report->cycle.size());
  for (uint32_t i = 0; i < report->cycle.size(); ++i) {
    Napi::Object node = Napi::Object::New(info.Env());
    node.Set("rank", report->cycle[i].rank);
    node.Set("id", report->cycle[i].id.number);
    node.Set("name", report->cycle[i].name);
    node.Set("run", static_cast<double>(report->cycle[i].run));
    node.Set("state", report->cycle[i].state);
    cycle.Set(i, node);
  }
  result.Set("cycle", cycle);
  return result;
}

}  // namespace dfccl::addon
