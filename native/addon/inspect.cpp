#include "inspect.hpp"

#include "error_conversion.hpp"
#include "processes/inspect.hpp"
#include "world/collective_spec.hpp"
#include "world_object.hpp"

namespace dfccl::addon {
namespace {

template <class List, class Convert>
Napi::Array arrayOf(Napi::Env env, const List& list, const Convert& convert) {
  Napi::Array array = Napi::Array::New(env, list.size());
  for (uint32_t i = 0; i < list.size(); ++i) array.Set(i, convert(list[i]));
  return array;
}

double number(uint64_t value) { return static_cast<double>(value); }

Napi::Object statusObject(Napi::Env env, const WorldStatus& w) {
  const auto member = [&](const MemberStatus& m) {
    Napi::Object o = Napi::Object::New(env);
    o.Set("rank", m.rank);
    o.Set("registered", m.isRegistered);
    o.Set("left", m.hasLeft);
    o.Set("submitted", number(m.submittedRuns));
    o.Set("finished", number(m.finishedRuns));
    o.Set("waitingMs", number(m.waitingMillis));
    return o;
  };
  const auto collective = [&](const CollectiveStatus& c) {
    Napi::Object o = Napi::Object::New(env);
    o.Set("id", c.id);
    o.Set("name", c.name);
    o.Set("collective", nameOf(c.collective));
    o.Set("dataType", nameOf(c.type));
    o.Set("count", number(c.count));
    o.Set("aborted", c.isAborted);
    o.Set("members", arrayOf(env, c.members, member));
    return o;
  };
  const auto rank = [&](const RankStatus& r) {
    Napi::Object o = Napi::Object::New(env);
    o.Set("rank", r.rank);
    o.Set("pid", r.pid);
    o.Set("presence", nameOf(r.presence));
    return o;
  };
  Napi::Object o = Napi::Object::New(env);
  o.Set("job", w.job);
  o.Set("version", w.version);
  o.Set("memoryBytes", number(w.memoryBytes));
  o.Set("ranks", arrayOf(env, w.ranks, rank));
  o.Set("collectives", arrayOf(env, w.collectives, collective));
  return o;
}

}  // namespace

Napi::Value inspectWorlds(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return guarded(env, [&]() -> Napi::Value {
    return arrayOf(env, dfccl::inspectWorlds(), [&](const WorldStatus& world) { return statusObject(env, world); });
  });
}

// inspect(): the same of this world; null where its ranks are no processes.
Napi::Value WorldObject::inspect(Info info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const std::shared_ptr<Segment>& segment = world(info.Env()).options().segment;
    return segment ? statusObject(info.Env(), inspectWorld(*segment)) : info.Env().Null();
  });
}

}  // namespace dfccl::addon
