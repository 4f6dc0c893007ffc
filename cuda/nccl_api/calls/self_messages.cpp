#include "nccl_api/calls/self_messages.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/types.hpp"
#include "host/driver/check.hpp"
#include "nccl_api/calls/device_buffer.hpp"
#include "nccl_api/universe/failure.hpp"

namespace dfccl::nccl {
namespace {

bool matches(const Operation& a, const Operation& b) {
  return a.communicator == b.communicator && a.count == b.count && a.type == b.type;
}

void check(const Operation& from, const Operation& to) {
  const auto type = static_cast<DataType>(from.type);
  const size_t bytes = bytesOf(from, 1);
  checkDeviceBuffer("send", from.send, bytes, type, from.communicator->device);
  checkDeviceBuffer("receive", to.recv, bytes, type, from.communicator->device);
}

void copy(const Operation& from, const Operation& to) {
  const size_t bytes = bytesOf(from, 1);
  const gpu::OnDevice here(from.communicator->device);
  checkCuda(cudaMemcpyAsync(to.recv, from.send, bytes, cudaMemcpyDeviceToDevice, to.stream), "cudaMemcpyAsync");
}

}  // namespace

bool isToSelf(const Operation& o) {
  if (o.kind != Kind::send && o.kind != Kind::receive) return false;
  o.communicator->checkState();
  return o.other == o.communicator->rank();
}

void refuseHalfAMessage() {
  throw Failure(ncclInvalidUsage, "A rank sends to itself or receives from itself, and the other half is missing.",
                "Put both, of the same type and count, into one group.");
}

void copySelfMessages(std::vector<Operation>& operations) {
  if (std::none_of(operations.begin(), operations.end(), isToSelf)) return;
  std::vector<Operation> sends, receives, others;
  for (Operation& o : operations) {
    (!isToSelf(o) ? others : o.kind == Kind::send ? sends : receives).push_back(std::move(o));
  }
  std::vector<std::pair<Operation, Operation>> pairs;
  for (const Operation& send : sends) {
    const auto found =
        std::find_if(receives.begin(), receives.end(), [&](const Operation& r) { return matches(send, r); });
    if (found == receives.end()) break;
    pairs.emplace_back(send, *found);
    receives.erase(found);
  }
  if (pairs.size() != sends.size() || !receives.empty()) refuseHalfAMessage();
  for (const auto& [send, receive] : pairs) check(send, receive);
  operations = std::move(others);
  for (const auto& [send, receive] : pairs) copy(send, receive);
}

}  // namespace dfccl::nccl
