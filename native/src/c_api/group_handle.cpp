#include "c_api/group_handle.hpp"

#include <algorithm>
#include <utility>

#include "base/own_operators.hpp"
#include "c_api/last_error.hpp"
#include "c_api/open_batch.hpp"
#include "network/network.hpp"

namespace dfccl::c_api {

HandleSlab<GroupHandle>& groups() {
  // Never destroyed: a program's own objects may end theirs while the process does.
  static auto& all = *new HandleSlab<GroupHandle>(2, "Destroy groups that are done with.");
  return all;
}

GroupHandle& groupOf(dfcclGroup_t group) {
  GroupHandle* const found = groups().find(reinterpret_cast<uint64_t>(group));
  if (found != nullptr) return *found;
  if (group == nullptr) refuseArgument("The group is null.", "Pass one that dfcclGroupCreate has made.");
  throw Error(dfcclClosed, "The group has been destroyed, or was never made.",
              "Pass one that dfcclGroupCreate has made, and destroy it last.");
}

bool isOnSeveralMachines(const GroupHandle& group) {
  const std::shared_ptr<Network>& network = group.context->backend().options().network;
  if (network == nullptr) return false;
  const std::vector<uint32_t>& ranks = group.group->ranks;
  const uint32_t machine = network->hostOf[ranks.front()];
  return std::ranges::any_of(ranks, [&](uint32_t rank) { return network->hostOf[rank] != machine; });
}

uint32_t placeIn(const GroupHandle& group, int place, const char* what) {
  if (place >= 0 && static_cast<uint32_t>(place) < group.size()) return static_cast<uint32_t>(place);
  refuseArgument("The " + std::string(what) + " is " + std::to_string(place) + ", in a group of " +
                     std::to_string(group.size()) + " ranks.",
                 "Allowed: 0 to " + std::to_string(group.size() - 1) + ", a place in the group.",
                 {{"field", what}, {"value", std::to_string(place)}});
}

namespace {

[[noreturn]] void refuseUnmade(int op) {
  refuseArgument("The op is " + std::to_string(op) + ", which this process hasn't made.",
                 "Call dfcclRedOpCreate before, on every rank.", {{"field", "op"}, {"value", std::to_string(op)}});
}

/// @pre one of them is out of range, they don't go together, or the operator needs a registration.
[[gnu::cold, gnu::noinline]] void refuseKind(int type, int op) {
  const auto check = [](const char* field, int value, int most) {
    if (value >= 0 && value <= most) return;
    refuseArgument("The " + std::string(field) + " is " + std::to_string(value) + ".",
                   "Allowed: 0 to " + std::to_string(most) + ".", {{"field", field}, {"value", std::to_string(value)}});
  };
  check("type", type, kDataTypeCount - 1);
  const bool isOwnOne = isOwnCode(op);
  if (isOwnOne && !isKnown(static_cast<ReduceOp>(op))) refuseUnmade(op);
  if (!isOwnOne) check("op", op, kReduceOpCount - 1);
  if (op != dfcclScaledSum) {
    const auto kind = static_cast<ReduceOp>(op);
    const auto element = static_cast<DataType>(type);
    refuseArgument("The op is " + std::string(nameOf(kind)) + " of " + nameOf(element) + ".",
                   isOwnOne ? "Take a type of 8 bytes for values with their places, such as dfcclUint64."
                            : "Take an integer type, or another operator.",
                   {{"field", "op"}, {"value", std::to_string(op)}});
  }
  // Its scalars are registered, each rank's with its own, and a signature's registration lasts for all runs.
  refuseArgument("The op is dfcclScaledSum, whose scalars belong to a registration.",
                 "Register the collective (dfcclSetScale, dfcclRegisterAllReduce), or scale before it, and add up.",
                 {{"field", "op"}, {"value", std::to_string(op)}});
}

}  // namespace

Signature signatureOf(const GroupHandle& group, Collective collective, size_t count, dfcclDataType_t type,
                      dfcclRedOp_t op, uint64_t tag) {
  const auto typeNumber = static_cast<uint32_t>(type), opNumber = static_cast<uint32_t>(op);
  if (typeNumber >= static_cast<uint32_t>(kDataTypeCount) ||
      (opNumber >= static_cast<uint32_t>(kReduceOpCount) &&
       !(isOwnCode(opNumber) && isKnown(static_cast<ReduceOp>(op)) &&
         takes(static_cast<ReduceOp>(op), static_cast<DataType>(type)))) ||
      op == dfcclScaledSum || !isDefined(static_cast<ReduceOp>(op), static_cast<DataType>(type))) [[unlikely]]
    refuseKind(static_cast<int>(type), static_cast<int>(op));
  Signature signature;
  signature.group = group.group->id;
  signature.collective = collective;
  signature.count = count;
  signature.type = static_cast<DataType>(type);
  signature.op = static_cast<ReduceOp>(op);
  signature.tag = tag;
  return signature;
}

void submitAtOnce(const GroupHandle& group, const MatchedRun& run, dfcclRequest_t* request) {
  Matching& matching = group.matching();
  if (request == nullptr && !matching.mayCopy()) return matching.submit(run, group.group, nullptr);
  Request& made = Request::make(1, request != nullptr ? 2 : 1, group.context->handle());
  const uint64_t handle = made.handle.load(order::relaxed);
  try {
    matching.submit(run, group.group, made.parts().data());
  } catch (...) {
    made.drop();
    throw;
  }
  if (request != nullptr) *request = reinterpret_cast<dfcclRequest_t>(handle);
}

void submit(dfcclGroup_t handle, const GroupHandle& group, const MatchedRun& run, dfcclRequest_t* request) {
  if (run.kind != RunKind::whole || OpenBatch::isOpen()) [[unlikely]]
    return submitAll(handle, {run}, request);
  submitAtOnce(group, run, request);
}

void submitAll(dfcclGroup_t handle, std::vector<MatchedRun> runs, dfcclRequest_t* request) {
  if (OpenBatch* const open = OpenBatch::innermost()) return open->add(handle, std::move(runs), request);
  OpenBatch alone;
  alone.add(handle, std::move(runs), nullptr);
  alone.submit(request);
}

}  // namespace dfccl::c_api
