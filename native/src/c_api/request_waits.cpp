#include "c_api/request_waits.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "c_api/last_error.hpp"
#include "c_api/rank_context.hpp"
#include "c_api/waiting.hpp"
#include "os/pause.hpp"
#include "os/tick_clock.hpp"

namespace dfccl::c_api {
namespace {

/// The rank of a request's part. @throws Error dfcclClosed: it was destroyed, as a lost one may be with runs in flight.
/// @pre the part isn't over, or graphs carry it out
RankContext& rankOf(const RequestPart& part) {
  if (RankContext* const context = contexts().find(part.context)) return *context;
  throw Error(dfcclClosed, "The request's rank has been destroyed.", "Give it back with dfcclFreeRequest.");
}

/// The ranks that requests still wait for, all of one world; none: all of it is about to be over. Null ones are passed
/// over.
std::vector<RankContext*> contextsOf(std::span<Request* const> requests) {
  std::vector<RankContext*> list;
  for (const Request* request : requests) {
    if (request == nullptr) continue;
    for (const RequestPart& part : request->parts()) {
      if (part.isOver()) continue;
      RankContext* const context = &rankOf(part);
      if (!list.empty() && &context->openWorld() != &list.front()->openWorld()) {
        refuseArgument("The requests are of different worlds.", "Wait for each world's requests by themselves.");
      }
      if (std::find(list.begin(), list.end(), context) == list.end()) list.push_back(context);
    }
  }
  return list;
}

/// All runs are over, and whoever has ended the last is about to say so, before it calls anything of the user's.
template <class IsOver>
void awaitTold(const IsOver& isOver) {
  while (!isOver()) cpuPause();
}

/// Of the first request that isn't over, whose rank is the first of contextsOf().
uint64_t firstRegistrationOf(std::span<Request* const> requests) {
  for (const Request* request : requests) {
    if (request == nullptr) continue;
    for (const RequestPart& part : request->parts()) {
      if (!part.isOver()) return part.registration;
    }
  }
  return 0;
}

/// Works for the ranks of requests, which are of one world, until isOver() says so.
template <class IsOver>
void helpUntil(const IsOver& isOver, std::span<Request* const> requests, uint64_t timeoutMicros) {
  const std::vector<RankContext*> mine = contextsOf(requests);
  if (mine.empty()) return awaitTold(isOver);
  for (RankContext* context : mine) refuseInCallback(*context);
  Waiting waiting(mine, timeoutMicros);
  waiting.tellFirst(firstRegistrationOf(requests));
  for (;;) {
    uint32_t delivered = 0;
    for (RankContext* context : mine) delivered += context->queues().deliver();
    if (isOver()) return;
    if (delivered != 0 || waiting.help(false)) {
      waiting.noteProgress();
    } else {
      waiting.pause();
    }
  }
}

/// Another thread has given it back, and it may be another run's by now.
bool isAnothers(const Request& request, dfcclRequest_t handle) {
  return request.handle.load(order::acquire) != reinterpret_cast<uint64_t>(handle);
}

/// Of what it still waits for; null: it is about to be over.
const OpenWorld* worldOf(const Request& request) {
  for (const RequestPart& part : request.parts()) {
    if (!part.isOver()) return &rankOf(part).openWorld();
  }
  return nullptr;
}

/// What is left of a time since `begin`; 0: there is no limit.
uint64_t leftOf(uint64_t timeoutMicros, uint64_t begin) {
  if (timeoutMicros == 0) return 0;
  const auto passed = static_cast<uint64_t>(static_cast<double>(readTicks() - begin) / ticksPerMicrosecond());
  return passed < timeoutMicros ? timeoutMicros - passed : 1;
}

[[noreturn]] void refuseStream() {
  throw Error(
      dfcclUnavailable,
      "A stream can't wait for this request, which is on a CPU, or of a message to itself that has no other half.",
      "Wait for it with dfcclWaitRun.");
}

}  // namespace

void helpOnce(Request& request) {
  Request* const one[] = {&request};
  const std::vector<RankContext*> mine = contextsOf(one);
  if (mine.empty()) return;
  bool isDelivering = false;
  for (RankContext* context : mine) isDelivering |= context->queues().isDelivering();
  if (!isDelivering) Waiting(mine, 0).help();
  for (RankContext* context : mine) context->queues().deliver();
}

void waitOnStream(const Request& request, void* stream) {
  for (const RequestPart& part : request.parts()) {
    // Also one that is over: what it has written may be there for its own stream only. It goes on only behind it.
    if (!part.inStream.isForItsStream) continue;
    if (RankContext* const context = contexts().find(part.context)) context->matching().requireOwnStream(part, stream);
  }
  const auto forEach = [&](const auto& act) {
    for (const RequestPart& part : request.parts()) {
      if ((part.isOver() && !request.isCaptured()) || part.inStream.isForItsStream) continue;
      rankOf(part);
      Matching* const matching = part.matching.load(order::acquire);
      if (matching == nullptr) refuseStream();
      act(*matching, part);
    }
  };
  // What one of them can't have is found before the stream waits for any.
  forEach([](Matching&, const RequestPart&) {});
  forEach([stream](Matching& matching, const RequestPart& part) { matching.waitOnStream(part, stream); });
}

size_t waitForOne(std::span<Request* const> requests, const dfcclRequest_t* handles, uint64_t timeoutMicros) {
  size_t which = requests.size();
  const auto isOver = [&] {
    for (which = 0; which != requests.size(); ++which) {
      const Request* const request = requests[which];
      if (request != nullptr && (request->isOver() || isAnothers(*request, handles[which]))) return true;
    }
    return false;
  };
  if (!isOver()) helpUntil(isOver, requests, timeoutMicros);
  return which;
}

void waitFor(Request& request, dfcclRequest_t handle, uint64_t timeoutMicros) {
  Request* const one[] = {&request};
  waitForOne(one, &handle, timeoutMicros);
}

void waitForAll(std::span<Request* const> requests, const dfcclRequest_t* handles, uint64_t timeoutMicros) {
  const uint64_t begin = readTicks();
  size_t next = 0;
  const auto areOver = [&] {
    while (next != requests.size() && (requests[next]->isOver() || isAnothers(*requests[next], handles[next]))) ++next;
    return next == requests.size();
  };
  while (!areOver()) {
    const OpenWorld* const world = worldOf(*requests[next]);
    std::vector<Request*> ofWorld;
    for (Request* request : requests.subspan(next)) {
      if (!request->isOver() && worldOf(*request) == world) ofWorld.push_back(request);
    }
    if (ofWorld.empty()) continue;  // the world's threads ended them between the two looks
    const auto isWorldOver = [&] { return areOver() || worldOf(*requests[next]) != world; };
    helpUntil(isWorldOver, ofWorld, leftOf(timeoutMicros, begin));
  }
}

}  // namespace dfccl::c_api
