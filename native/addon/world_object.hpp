#pragma once
#include <napi.h>

#include <memory>
#include <unordered_map>

#include "waker.hpp"
#include "world/backend.hpp"

namespace dfccl::addon {

struct SharedBuffer;
/// Memory that other processes reach, by its address: what JavaScript has of it and neither freed nor collected.
using SharedBuffers = std::unordered_map<uint8_t*, SharedBuffer*>;

/// The engine as packages/core sees it (src/native-addon/native-world.ts): 1:1 with Backend. Queue memory is shown to
/// JavaScript as it is, so that submitting and polling need no call.
class WorldObject : public Napi::ObjectWrap<WorldObject> {
 public:
  static Napi::Function define(Napi::Env env);
  explicit WorldObject(const Napi::CallbackInfo& info);
  ~WorldObject() override;

 private:
  using Info = const Napi::CallbackInfo&;

  Napi::Value options(Info info);
  Napi::Value memory(Info info);
  Napi::Value registerCollective(Info info);
  Napi::Value unregisterCollective(Info info);
  Napi::Value runsBefore(Info info);
  Napi::Value abortCollective(Info info);
  Napi::Value isAborted(Info info);
  Napi::Value isQuarantineOver(Info info);
  Napi::Value explain(Info info);
  Napi::Value otherCalls(Info info);
  Napi::Value drive(Info info);
  Napi::Value ring(Info info);
  Napi::Value residentStay(Info info);
  Napi::Value isStayOver(Info info);
  Napi::Value noteSynchronizing(Info info);
  Napi::Value synchronize(Info info);
  Napi::Value counters(Info info);
  Napi::Value memoryUse(Info info);
  Napi::Value deadlock(Info info);
  Napi::Value allocate(Info info);
  Napi::Value free(Info info);
  Napi::Value window(Info info);
  Napi::Value lostRanks(Info info);
  Napi::Value agreeOnSurvivors(Info info);
  Napi::Value awaitedByAgreement(Info info);
  Napi::Value inspect(Info info);
  Napi::Value hosts(Info info);
  Napi::Value whyAborted(Info info);
  Napi::Value mismatchedCounts(Info info);
  Napi::Value setWaker(Info info);
  Napi::Value referenceWaker(Info info);
  Napi::Value placements(Info info);
  Napi::Value collectiveName(Info info);
  Napi::Value deviceOf(Info info);
  Napi::Value allocateOnDevice(Info info);
  Napi::Value windowOf(Info info);
  Napi::Value freeOnDevice(Info info);
  Napi::Value copyIn(Info info);
  Napi::Value copyOut(Info info);
  Napi::Value synchronizeLater(Info info);
  Napi::Value close(Info info);

  Backend& world(Napi::Env env);
  uint32_t rankOf(Info info);
  void shutDown();

  std::shared_ptr<Backend> world_;  // also held by every buffer that shows its memory
  std::shared_ptr<SharedBuffers> buffers_ = std::make_shared<SharedBuffers>();  // also held by each of them
  std::unique_ptr<Waker> waker_;
  bool hasCleanupHook_ = false;
  static void cleanUp(void* self);
};

}  // namespace dfccl::addon
