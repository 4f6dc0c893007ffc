#include "matching/request.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "world/user_callback.hpp"

namespace dfccl {
namespace {

HandleSlab<Request>& slab() {
  // Never destroyed: when a process ends, the engine's threads may still be at work.
  static auto& all = *new HandleSlab<Request>(1, "Wait for some requests, or give them back with dfcclFreeRequest.");
  return all;
}

thread_local uint32_t callbacksDeep = 0;  // of requests

}  // namespace

void RequestPart::letStreamsWait(Matching* by) {
  if (otherHalf != nullptr) {
    otherHalf->collective = collective;
    otherHalf->registration = registration;
    otherHalf->number = number;
    otherHalf->captured = captured;
    otherHalf->matching.store(by, order::release);
  }
  matching.store(by, order::release);
}

void RequestPart::add(Request* request) { *std::find(requests, requests + kMostRequests, nullptr) = request; }

void RequestPart::giveBackCopies() {
  for (Staged& piece : staged) {
    if (piece.memory != nullptr) pool->giveBack(piece);
  }
}

void RequestPart::setCopiesAside() {
  for (Staged& piece : staged) {
    if (piece.memory != nullptr) pool->setAside(piece, registration);
  }
}

void RequestPart::end(dfcclResult_t status) {
  if (status == dfcclSuccess && copyBytes != 0) std::memcpy(copyTo, copyFrom, copyBytes);
  if (status == dfcclSuccess) {
    giveBackCopies();
  } else {
    setCopiesAside();
  }
  isOver_.store(1, order::release);
  if (otherHalf != nullptr) otherHalf->isOver_.store(1, order::release);
  Request* all[kMostRequests];
  std::copy(requests, requests + kMostRequests, all);
  // All of them are over before any calls back: a callback may ask for another.
  Request::Ending endings[kMostRequests];
  for (size_t i = 0; i < kMostRequests; ++i) {
    endings[i] = all[i] == nullptr ? Request::Ending::notYet : all[i]->endPart(status);
  }
  for (size_t i = 0; i < kMostRequests; ++i) {
    if (endings[i] != Request::Ending::notYet) all[i]->tellEnd(endings[i]);
  }
}

Request& Request::begin(uint32_t parts, uint32_t holders) {
  Request& request = slab().take();
  request.partCount_ = parts;
  request.partsLeft_.store(std::max(1u, parts), order::relaxed);
  request.isAborted_.store(0, order::relaxed);
  request.state_.store(0, order::relaxed);
  request.holders_.store(holders, order::relaxed);
  return request;
}

Request& Request::make(uint32_t parts, uint32_t holders, const void* context) {
  auto many = parts > 1 ? std::make_unique<RequestPart[]>(parts) : nullptr;
  Request& request = begin(parts, holders);
  request.own_ = {};
  request.several_ = std::move(many);
  request.whole_ = nullptr;
  request.first_ = request.several_ ? request.several_.get() : &request.own_;
  for (RequestPart& part : request.parts()) {
    part.requests[0] = &request;
    part.context = context;
  }
  slab().publish(request);
  return request;
}

Request& Request::makeWithin(Request& whole, uint32_t firstPart, uint32_t parts) {
  Request& request = begin(parts, 2);
  whole.holders_.fetchAdd(1, order::relaxed);
  request.whole_ = &whole;
  request.first_ = whole.first_ + firstPart;
  for (RequestPart& part : request.parts()) part.add(&request);
  slab().publish(request);
  return request;
}

Request* Request::find(uint64_t handle) { return slab().find(handle); }

void Request::drop() {
  several_.reset();
  Request* const whole = std::exchange(whole_, nullptr);
  slab().giveBack(*this);
  if (whole != nullptr) whole->letGo();
}

bool Request::notify(Callback to, void* with) {
  if ((state_.fetchOr(kClaimed, order::relaxed) & kClaimed) != 0) return false;
  callback_ = to;
  argument_ = with;
  const uint32_t before = state_.fetchOr(kNotifies, order::acqRel);
  if ((before & kOver) == 0) return true;
  holders_.fetchAdd(1, order::relaxed);  // the callback may give it back
  callBack();
  letGo();
  return true;
}

void Request::callBack() {
  ++callbacksDeep;
  {
    const UserCallback callback;
    callback_(argument_, this->status());
  }
  --callbacksDeep;
  state_.fetchOr(kReturned, order::release);
}

bool Request::isInCallback() { return callbacksDeep != 0; }

Request::Ending Request::endPart(dfcclResult_t status) {
  if (status != dfcclSuccess) isAborted_.store(1, order::relaxed);
  if (partsLeft_.fetchSub(1, order::acqRel) != 1) return Ending::notYet;
  return (state_.fetchOr(kOver, order::acqRel) & kNotifies) != 0 ? Ending::callsBack : Ending::quiet;
}

void Request::tellEnd(Ending ending) {
  if (ending == Ending::callsBack) callBack();
  letGo();
}

void Request::partIsOver(dfcclResult_t status) {
  const Ending ending = endPart(status);
  if (ending != Ending::notYet) tellEnd(ending);
}

bool Request::endHandle(uint64_t itsHandle) {
  if (!slab().endHandle(*this, itsHandle)) return false;
  letGo();
  return true;
}

void Request::letGo() {
  if (holders_.fetchSub(1, order::acqRel) == 1) drop();
}

}  // namespace dfccl
