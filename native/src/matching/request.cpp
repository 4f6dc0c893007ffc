#include "matching/request.hpp"

namespace dfccl {
namespace {

HandleSlab<Request>& slab() {
  // Never destroyed: when a process ends, the engine's threads may still be at work.
  static auto& all = *new HandleSlab<Request>("Wait for some requests, or give them back with dfcclFreeRequest.");
  return all;
}

}  // namespace

Request& Request::make(uint32_t parts, uint32_t holders, void* context) {
  auto many = parts > 1 ? std::make_unique<RequestPart[]>(parts) : nullptr;
  Request& request = slab().take();
  request.context = context;
  request.part = {};
  request.parts = std::move(many);
  request.waitedFor = nullptr;
  request.partCount_ = parts;
  for (uint32_t i = 0; i < parts; ++i) request.partAt(i).requests[0] = &request;
  request.partsLeft_.store(parts, order::relaxed);
  request.isAborted_.store(0, order::relaxed);
  request.state_.store(0, order::relaxed);
  request.holders_.store(holders, order::relaxed);
  slab().publish(request);
  return request;
}

Request* Request::find(uint64_t handle) { return slab().find(handle); }

void Request::drop() {
  parts.reset();
  slab().giveBack(*this);
}

bool Request::notify(Callback to, void* with) {
  if ((state_.load(order::relaxed) & kNotifies) != 0) return false;
  callback_ = to;
  argument_ = with;
  const uint32_t before = state_.fetchOr(kNotifies, order::acqRel);
  if ((before & kOver) != 0) to(with, status());
  return true;
}

void Request::partIsOver(dfcclResult_t status) {
  if (status != dfcclSuccess) isAborted_.store(1, order::relaxed);
  partsAreOver(1);
}

void Request::onlySubmitted(uint32_t parts) {
  isAborted_.store(1, order::relaxed);
  partsAreOver(partCount_ - parts);
}

void Request::partsAreOver(uint32_t parts) {
  if (partsLeft_.fetchSub(parts, order::acqRel) != parts) return;
  const uint32_t before = state_.fetchOr(kOver, order::acqRel);
  if ((before & kNotifies) != 0) callback_(argument_, status());
  letGo();
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
