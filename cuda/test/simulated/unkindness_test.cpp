// The simulated devices block where CUDA does (decision 20's table), and each switch takes that away.
#include <algorithm>
#include <array>
#include <vector>

#include "simulated/blocked_call.hpp"
#include "simulated/call.hpp"
#include "simulated/named_calls.hpp"
#include "simulated/unkindness.hpp"

using namespace dfccl::gpu::simulated;
using namespace dfccl::gpu::simulated::test;

namespace {

/// A thread that holds the lock, as one does that frees, until the word is opened.
struct Freeing {
  explicit Freeing(void* memory) : call([=] { cudaFree(memory); }) { REQUIRE(call.awaitsIdle()); }
  BlockedCall call;
};

}  // namespace

TEST_CASE("what frees, lets go of the host's memory or loads a module waits until the device is idle") {
  const cudaStream_t busy = newStream(), other = newStream();
  for (const NamedCall& call : idleCalls(other)) {
    CAPTURE(call.name);
    Word word;
    word.letWait(busy);
    const BlockedCall blocked(call.make);
    CHECK(blocked.awaitsIdle());
    word.open();
    CHECK(blocked.returns());
  }
}

TEST_CASE("control: with the switches off it returns beside a busy device") {
  const Switched frees(unkindness().idleFrees, 0), modules(unkindness().modules, 0);
  const cudaStream_t busy = newStream(), other = newStream();
  for (const NamedCall& call : idleCalls(other)) {
    CAPTURE(call.name);
    Word word;
    word.letWait(busy);
    CHECK(BlockedCall(call.make).returns());
    CHECK_FALSE(word.isOpen());
  }
}

TEST_CASE("a kernel that spins keeps the device busy as a stream that waits does") {
  const cudaStream_t busy = newStream();
  Word word;
  launchUserKernel(busy, newModule(), word.spin());
  void* const memory = allocated();
  const BlockedCall blocked([=] { cudaFree(memory); });
  CHECK(blocked.awaitsIdle());
  word.open();
  CHECK(blocked.returns());
}

TEST_CASE("all other calls wait for whoever waits with the lock") {
  const cudaStream_t busy = newStream(), other = newStream();
  const int module = newModule();
  REQUIRE(launchUserKernel(other, module, [] {}) == cudaSuccess);
  std::vector<NamedCall> calls = lockedCalls(other);
  for (NamedCall& call : launches(other, module)) calls.push_back(std::move(call));
  for (const NamedCall& call : calls) {
    CAPTURE(call.name);
    Word word;
    void* const memory = allocated();
    word.letWait(busy);
    const Freeing freeing(memory);
    const BlockedCall blocked(call.make);
    CHECK(blocked.awaitsLock());
    word.open();
    CHECK(blocked.returns());
  }
}

TEST_CASE("none of them waits for the device where nobody holds the lock") {
  const cudaStream_t busy = newStream(), other = newStream();
  const int module = newModule();
  REQUIRE(launchUserKernel(other, module, [] {}) == cudaSuccess);
  std::vector<NamedCall> calls = lockedCalls(other);
  for (NamedCall& call : launches(other, module)) calls.push_back(std::move(call));
  Word word;
  word.letWait(busy);
  for (const NamedCall& call : calls) {
    CAPTURE(call.name);
    CHECK(BlockedCall(call.make).returns());
  }
}

TEST_CASE("control: with the switch off only launches and copies wait for the lock") {
  const Switched locked(unkindness().lockedCalls, 0);
  const cudaStream_t busy = newStream(), other = newStream();
  const int module = newModule();
  REQUIRE(launchUserKernel(other, module, [] {}) == cudaSuccess);
  void* const memory = allocated();
  const std::vector<NamedCall> unlocked = lockedCalls(other), always = launches(other, module);
  Word word;
  word.letWait(busy);
  const Freeing freeing(memory);
  for (const NamedCall& call : unlocked) {
    CAPTURE(call.name);
    CHECK(BlockedCall(call.make).returns());
  }
  const BlockedCall blocked(always[0].make);
  CHECK(blocked.awaitsLock());
  word.open();
  CHECK(blocked.returns());
}

TEST_CASE("cudaDeviceSynchronize waits for the device and holds nobody up") {
  const cudaStream_t busy = newStream(), other = newStream();
  Word word;
  word.letWait(busy);
  const BlockedCall blocked([] { cudaDeviceSynchronize(); });
  CHECK(blocked.awaitsIdle());
  for (const NamedCall& call : lockedCalls(other)) {
    CAPTURE(call.name);
    CHECK(BlockedCall(call.make).returns());
  }
  CHECK_FALSE(blocked.hasReturned());
  word.open();
  CHECK(blocked.returns());
}

TEST_CASE("memory operations and questions about pointers wait for the lock only where their switches say so") {
  const cudaStream_t busy = newStream(), other = newStream();
  void* const asked = allocated();
  const struct {
    const char* name;
    Switch& which;
    std::function<void(Word&)> make;
  } kinds[] = {{"a memory operation", unkindness().lockedMemoryOperations, [=](Word& word) { word.letOpen(other); }},
               {"cudaPointerGetAttributes", unkindness().lockedAttributes, [=](Word&) {
                  cudaPointerAttributes attributes;
                  cudaPointerGetAttributes(&attributes, asked);
                }}};
  for (const auto& [name, which, make] : kinds) {
    CAPTURE(name);
    for (const int isLocked : {0, 1}) {
      CAPTURE(isLocked);
      const Switched locked(which, isLocked);
      Word word, written;
      void* const memory = allocated();
      word.letWait(busy);
      const Freeing freeing(memory);
      const BlockedCall call([&, &make = make] { make(written); });
      if (isLocked == 0) {
        CHECK(call.returns());
        CHECK_FALSE(word.isOpen());
      } else {
        CHECK(call.awaitsLock());
        word.open();
        CHECK(call.returns());
      }
      word.open();
    }
  }
}

TEST_CASE("mapping another process's memory waits for the device where the switch says so, unmapping it always") {
  const cudaStream_t busy = newStream();
  void* const memory = allocated();
  cudaIpcMemHandle_t handle;
  REQUIRE(cudaIpcGetMemHandle(&handle, memory) == cudaSuccess);
  std::array<void*, 2> mapped{};
  const auto map = [&](void*& one) { cudaIpcOpenMemHandle(&one, handle, cudaIpcMemLazyEnablePeerAccess); };
  Word word;
  word.letWait(busy);
  CHECK(BlockedCall([&] { map(mapped[0]); }).returns());
  {
    const BlockedCall unmaps([&] { cudaIpcCloseMemHandle(mapped[0]); });
    CHECK(unmaps.awaitsIdle());
    word.open();
    CHECK(unmaps.returns());
  }
  Word other;
  other.letWait(busy);
  const Switched waits(unkindness().idleIpc, 1);
  const BlockedCall maps([&] { map(mapped[1]); });
  CHECK(maps.awaitsIdle());
  other.open();
  CHECK(maps.returns());
  CHECK(cudaIpcCloseMemHandle(mapped[1]) == cudaSuccess);
}

TEST_CASE("a module is loaded once, by whichever launch of a kernel of it is the first") {
  const cudaStream_t stream = newStream();
  const int module = newModule();
  const uint64_t before = moduleLoads(), engines = engineModuleLoads();
  CHECK(launchUserKernel(stream, module, [] {}) == cudaSuccess);
  CHECK(launchUserKernel(stream, module, [] {}) == cudaSuccess);
  CHECK(loadModule(module) == cudaSuccess);
  CHECK(moduleLoads() == before + 1);
  CHECK(engineModuleLoads() == engines);
  // Tests before this one may have loaded it, on other devices too.
  CHECK(loadModule(kEngineModule) == cudaSuccess);
  const uint64_t loaded = engineModuleLoads();
  CHECK(loaded == std::max<uint64_t>(engines, 1));
  CHECK(loadModule(kEngineModule) == cudaSuccess);
  CHECK(engineModuleLoads() == loaded);
}

TEST_CASE("a stream that has been given too much blocks its caller, and with him everybody else") {
  const cudaStream_t busy = newStream(), other = newStream();
  const int module = newModule();
  REQUIRE(loadModule(module) == cudaSuccess);
  const auto room = static_cast<int>(unkindness().launchQueue.value());
  Word word;
  word.letWait(busy);
  const BlockedCall filled([=] {
    for (int i = 1; i < room; ++i) launchUserKernel(busy, module, [] {});
  });
  CHECK(filled.returns());
  const BlockedCall tooMuch([=] { launchUserKernel(busy, module, [] {}); });
  REQUIRE(comesToHold([] { return Device::at(0).context().isHeld(); }));
  const BlockedCall elsewhere([=] { launchUserKernel(other, module, [] {}); });
  CHECK(elsewhere.awaitsLock());
  CHECK_FALSE(tooMuch.hasReturned());
  word.open();
  CHECK(tooMuch.returns());
  CHECK(elsewhere.returns());
}

TEST_CASE("control: with the switch off a stream takes any number") {
  const Switched room(unkindness().launchQueue, 0);
  const cudaStream_t busy = newStream();
  const int module = newModule();
  REQUIRE(loadModule(module) == cudaSuccess);
  Word word;
  word.letWait(busy);
  CHECK(BlockedCall([=] {
          for (int i = 0; i < 3000; ++i) launchUserKernel(busy, module, [] {});
        }).returns());
}
