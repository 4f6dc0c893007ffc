#include "world_object.hpp"

#include <algorithm>

#include "arguments.hpp"
#include "defaults.hpp"
#include "error_conversion.hpp"
#include "later.hpp"
#include "opening/open_backend.hpp"
#include "options.hpp"
#include "os/tick_clock.hpp"
#include "processes/segment.hpp"

namespace dfccl::addon {
namespace {

/// Shows native memory to JavaScript. The memory lives for as long as either side uses it.
Napi::ArrayBuffer show(Napi::Env env, const std::shared_ptr<Backend>& owner, void* memory, size_t bytes) {
  auto* kept = new std::shared_ptr<Backend>(owner);
  return Napi::ArrayBuffer::New(
      env, memory, bytes, [](Napi::Env, void*, std::shared_ptr<Backend>* held) { delete held; }, kept);
}

Napi::Object objectArgument(const Napi::CallbackInfo& info, size_t at) {
  if (info.Length() > at && info[at].IsObject()) return info[at].As<Napi::Object>();
  throw Error(dfcclInvalidArgument, "The options are missing.", "Pass an object.", {{"field", "options"}});
}

Napi::Function functionArgument(const Napi::CallbackInfo& info, size_t at) {
  if (info.Length() > at && info[at].IsFunction()) return info[at].As<Napi::Function>();
  throw Error(dfcclInvalidArgument, "The waker is no function.", "Pass a function.", {{"field", "waker"}});
}

}  // namespace

Napi::Function WorldObject::define(Napi::Env env) {
  return DefineClass(env, "NativeWorld",
                     {
                         InstanceMethod("memory", &WorldObject::memory),
                         InstanceMethod("register", &WorldObject::registerCollective),
                         InstanceMethod("unregister", &WorldObject::unregisterCollective),
                         InstanceMethod("runsBefore", &WorldObject::runsBefore),
                         InstanceMethod("abort", &WorldObject::abortCollective),
                         InstanceMethod("isAborted", &WorldObject::isAborted),
                         InstanceMethod("isQuarantineOver", &WorldObject::isQuarantineOver),
                         InstanceMethod("explain", &WorldObject::explain),
                         InstanceMethod("otherCalls", &WorldObject::otherCalls),
                         InstanceMethod("drive", &WorldObject::drive),
                         InstanceMethod("ring", &WorldObject::ring),
                         InstanceMethod("residentStay", &WorldObject::residentStay),
                         InstanceMethod("isStayOver", &WorldObject::isStayOver),
                         InstanceMethod("noteSynchronizing", &WorldObject::noteSynchronizing),
                         InstanceMethod("synchronize", &WorldObject::synchronize),
                         InstanceMethod("counters", &WorldObject::counters),
                         InstanceMethod("memoryUse", &WorldObject::memoryUse),
                         InstanceMethod("deadlock", &WorldObject::deadlock),
                         InstanceMethod("allocate", &WorldObject::allocate),
                         InstanceMethod("free", &WorldObject::free),
                         InstanceMethod("window", &WorldObject::window),
                         InstanceMethod("lostRanks", &WorldObject::lostRanks),
                         InstanceMethod("agreeOnSurvivors", &WorldObject::agreeOnSurvivors),
                         InstanceMethod("awaitedByAgreement", &WorldObject::awaitedByAgreement),
                         InstanceMethod("inspect", &WorldObject::inspect),
                         InstanceMethod("hosts", &WorldObject::hosts),
                         InstanceMethod("whyAborted", &WorldObject::whyAborted),
                         InstanceMethod("mismatchedCounts", &WorldObject::mismatchedCounts),
                         InstanceMethod("setWaker", &WorldObject::setWaker),
                         InstanceMethod("referenceWaker", &WorldObject::referenceWaker),
                         InstanceMethod("placements", &WorldObject::placements),
                         InstanceMethod("nameOf", &WorldObject::collectiveName),
                         InstanceMethod("deviceOf", &WorldObject::deviceOf),
                         InstanceMethod("allocateOnDevice", &WorldObject::allocateOnDevice),
                         InstanceMethod("windowOf", &WorldObject::windowOf),
                         InstanceMethod("freeOnDevice", &WorldObject::freeOnDevice),
                         InstanceMethod("copyIn", &WorldObject::copyIn),
                         InstanceMethod("copyOut", &WorldObject::copyOut),
                         InstanceMethod("synchronizeLater", &WorldObject::synchronizeLater),
                         InstanceMethod("options", &WorldObject::options),
                         InstanceMethod("close", &WorldObject::close),
                     });
}

WorldObject::WorldObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<WorldObject>(info) {
  guarded(info.Env(), [&]() -> Napi::Value {
    world_ = openBackend(readWorldOptions(objectArgument(info, 0)));
    return info.Env().Undefined();
  });
  // Runs before the environment frees what its buffers point to, so no daemon writes into freed memory.
  napi_add_env_cleanup_hook(info.Env(), cleanUp, this);
  hasCleanupHook_ = true;
}

WorldObject::~WorldObject() {
  if (hasCleanupHook_) napi_remove_env_cleanup_hook(Env(), cleanUp, this);
  shutDown();
}

void WorldObject::cleanUp(void* self) {
  auto* object = static_cast<WorldObject*>(self);
  object->hasCleanupHook_ = false;
  object->shutDown();
}

void WorldObject::shutDown() {
  if (!world_) return;
  world_->setWaker(nullptr);
  world_->stop();
  if (waker_) waker_->close();
  world_.reset();
}

Backend& WorldObject::world(Napi::Env env) {
  if (!world_) throw toJavaScript(env, Error(dfcclClosed, "The world has been closed.", "Open another one."));
  return *world_;
}

uint32_t WorldObject::rankOf(Info info) {
  Backend& w = world(info.Env());
  const uint32_t rank = numberArgument(info, 0, "rank");
  if (!w.isLocal(rank)) {
    const std::string allowed = w.options().segment == nullptr ? "0 to " + std::to_string(w.size() - 1)
                                                               : std::to_string(w.options().segment->rank());
    throw Error(dfcclInvalidArgument, "Rank is " + std::to_string(rank) + ".", "Allowed: " + allowed + ".",
                {{"field", "rank"}, {"value", std::to_string(rank)}});
  }
  return rank;
}

// options(): those in force.
Napi::Value WorldObject::options(Info info) {
  return guarded(info.Env(), [&]() -> Napi::Value { return showOptions(info.Env(), world(info.Env()).options()); });
}

// memory(rank): the buffers that JavaScript reads and writes without a call.
Napi::Value WorldObject::memory(Info info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const uint32_t rank = rankOf(info);
    RankMemory& m = world_->memory(rank);
    Napi::Object result = Napi::Object::New(info.Env());
    result.Set("submissions",
               show(info.Env(), world_, m.submissions.header, SubmissionRing::bytes(m.limits.submissionSlots)));
    result.Set("completions",
               show(info.Env(), world_, m.completions.header, CompletionOwnedSlots<>::bytes(slotsMade(m.limits))));
    // A GPU's lie in its own memory.
    if (world_->options().backend == BackendKind::cpu)
      result.Set("counters", show(info.Env(), world_, &m.counters, sizeof m.counters));
    result.Set("control", show(info.Env(), world_, &m.control, sizeof m.control));
    result.Set("sleepers", show(info.Env(), world_, &world_->sleepers(), sizeof(uint32_t)));
    // The slots that any runs share; beside them each id has one, unless the order of submission is kept.
    result.Set("sharedSlots", m.limits.completionSlots);
    result.Set("ownPlaces", m.limits.ownPlaces && m.policy.streams == 0);
    return result;
  });
}

Napi::Value WorldObject::registerCollective(Info info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const uint32_t rank = rankOf(info);
    return Napi::Number::New(info.Env(), world_->registerCollective(rank, readCollectiveSpec(objectArgument(info, 1))));
  });
}

Napi::Value WorldObject::unregisterCollective(Info info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const uint32_t rank = rankOf(info);
    const bool comesBack = info.Length() > 3 && info[3].IsBoolean() && info[3].As<Napi::Boolean>().Value();
    world_->unregisterCollective(rank, numberArgument(info, 1, "index"), wholeArgument(info, 2, "issuedRuns"),
                                 comesBack ? Departure::forNow : Departure::forGood);
    return info.Env().Undefined();
  });
}

// runsBefore(rank, index): that it had of a signature before it was forgotten.
Napi::Value WorldObject::runsBefore(Info info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const uint32_t rank = rankOf(info);
    return Napi::Number::New(info.Env(),
                             static_cast<double>(world_->runsBefore(rank, numberArgument(info, 1, "index"))));
  });
}

Napi::Value WorldObject::abortCollective(Info info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const uint32_t rank = rankOf(info);
    world_->abortCollective(rank, numberArgument(info, 1, "index"));
    return info.Env().Undefined();
  });
}

Napi::Value WorldObject::isAborted(Info info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const uint32_t rank = rankOf(info);
    return Napi::Boolean::New(info.Env(), world_->isAborted(rank, numberArgument(info, 1, "index")));
  });
}

Napi::Value WorldObject::isQuarantineOver(Info info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const uint32_t rank = rankOf(info);
    return Napi::Boolean::New(info.Env(), world_->isQuarantineOver(rank, numberArgument(info, 1, "index")));
  });
}

// drive(micros): steps until nothing moves or the time is over. @return whether anything moved.
Napi::Value WorldObject::drive(Info info) {
  Backend& w = world(info.Env());
  guarded(info.Env(), [&]() -> Napi::Value {
    for (uint32_t r = 0; r < w.size(); ++r) w.checkHealth(r);
    return info.Env().Undefined();
  });
  const double micros = info[0].IsNumber() ? info[0].As<Napi::Number>().DoubleValue() : 0;
  const uint64_t begin = readTicks();
  const auto limit = static_cast<uint64_t>(std::clamp(micros, 0.0, 1e9) * ticksPerMicrosecond());
  bool any = false;
  while (w.drive()) {
    any = true;
    if (readTicks() - begin > limit) break;
  }
  return Napi::Boolean::New(info.Env(), any);
}

Napi::Value WorldObject::ring(Info info) {
  world(info.Env()).ring();
  return info.Env().Undefined();
}

Napi::Value WorldObject::residentStay(Info info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    return Napi::Number::New(info.Env(), static_cast<double>(world(info.Env()).residentStay(rankOf(info))));
  });
}

Napi::Value WorldObject::isStayOver(Info info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const uint32_t rank = rankOf(info);
    return Napi::Boolean::New(info.Env(), world_->isStayOver(rank, wholeArgument(info, 1, "stay")));
  });
}

Napi::Value WorldObject::noteSynchronizing(Info info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const uint32_t rank = rankOf(info);
    const int32_t delta = info[1].IsNumber() ? info[1].As<Napi::Number>().Int32Value() : 0;
    if (delta != 1 && delta != -1)
      throw Error(dfcclInvalidArgument, "delta is neither 1 nor -1.", "Pass either.", {{"field", "delta"}});
    world_->noteSynchronizing(rank, delta);
    return info.Env().Undefined();
  });
}

// synchronize(rank, timeoutMicros): blocks this thread, as cudaDeviceSynchronize does.
Napi::Value WorldObject::synchronize(Info info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const uint32_t rank = rankOf(info);
    return Napi::Boolean::New(info.Env(), world_->synchronize(rank, wholeArgument(info, 1, "timeoutMicros")));
  });
}

Napi::Value WorldObject::setWaker(Info info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    Backend& w = world(info.Env());
    const Napi::Function wake = functionArgument(info, 0);
    w.setWaker(nullptr);
    if (waker_) waker_->close();
    waker_ = std::make_unique<Waker>(info.Env(), wake);
    w.setWaker([waker = waker_.get()](uint32_t) { waker->wake(); });
    return info.Env().Undefined();
  });
}

Napi::Value WorldObject::referenceWaker(Info info) {
  if (waker_) waker_->reference(info[0].ToBoolean());
  return info.Env().Undefined();
}

Napi::Value WorldObject::close(Info info) {
  shutDown();
  return info.Env().Undefined();
}

}  // namespace dfccl::addon
