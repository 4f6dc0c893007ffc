// Groups with calls of another NCCL's communicators.
#include "simulated/beside_fake_nccl.hpp"

using namespace dfccl::nccl::test;

TEST_CASE("the other NCCL has a group where the thread has one, and is asked of it, once") {
  inProcess([]() -> int {
    name(fakePath(), "all");
    ncclComm_t comms[2] = {};
    OK(ncclCommInitAll(comms, 2, nullptr));
    EXPECT(fakeCount(kFakeInit) == 2 && fakeCount(kFakeGroupStart) == 0);
    const Buffer send(kCount, 1), recv(kCount, 0);
    OK(ncclGroupStart());
    OK(ncclGroupEnd());
    EXPECT(fakeCount(kFakeGroupStart) == 0);
    OK(ncclGroupStart());
    OK(ncclGroupStart());
    for (ncclComm_t comm : comms) OK(ncclAllReduce(send, recv, kCount, ncclFloat32, ncclSum, comm, nullptr));
    OK(ncclGroupEnd());
    EXPECT(fakeCount(kFakeGroupEnd) == 0);
    OK(ncclGroupEnd());
    EXPECT(fakeCount(kFakeGroupStart) == 1 && fakeCount(kFakeGroupEnd) == 1);
    EXPECT(fakeCount(kFakeAllReduceInGroup) == 2);
    for (ncclComm_t comm : comms) OK(ncclCommDestroy(comm));
    return kFine;
  });
}

TEST_CASE("a group of which nothing is done is none of the other NCCL's either") {
  inProcess([]() -> int {
    name(fakePath(), "all");
    ncclComm_t comms[2] = {};
    OK(ncclCommInitAll(comms, 2, nullptr));
    const Buffer send(kCount, 1), recv(kCount, 0);
    const auto addUp = [&] { return ncclAllReduce(send, recv, kCount, ncclFloat32, ncclSum, comms[0], nullptr); };
    OK(ncclGroupStart());
    OK(addUp());
    EXPECT(ncclGroupSimulateEnd(nullptr) == ncclInvalidUsage);
    EXPECT(fakeCount(kFakeGroupDropped) == 1 && fakeCount(kFakeGroupEnd) == 0);
    OK(ncclGroupStart());
    OK(addUp());
    ncclComm_t none = nullptr;
    EXPECT(ncclCommInitRank(&none, 1, {}, 2) == ncclInvalidArgument);
    EXPECT(ncclGroupEnd() == ncclInvalidArgument);
    EXPECT(fakeCount(kFakeGroupDropped) == 2 && fakeCount(kFakeGroupEnd) == 0);
    OK(ncclGroupStart());
    OK(addUp());
    OK(ncclGroupEnd());
    EXPECT(fakeCount(kFakeGroupDropped) == 2 && fakeCount(kFakeGroupEnd) == 1);
    for (ncclComm_t comm : comms) OK(ncclCommDestroy(comm));
    return kFine;
  });
}
