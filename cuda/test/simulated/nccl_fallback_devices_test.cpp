// On which device another NCCL makes communicators.
#include "simulated/beside_fake_nccl.hpp"

using namespace dfccl::nccl::test;

// Alone in a group it was made on the device that was current when the group ended.
TEST_CASE("a communicator of the other NCCL is made on the device of its call") {
  inProcess([]() -> int {
    name(fakePath(), "all");
    ncclUniqueId id{};
    OK(ncclGetUniqueId(&id));
    ncclComm_t comm = nullptr;
    cudaSetDevice(1);
    OK(ncclGroupStart());
    OK(ncclCommInitRank(&comm, 5, id, 3));
    cudaSetDevice(0);
    OK(ncclGroupEnd());
    EXPECT(askFake<FakeLastDevice>("fakeLastDevice") == 1);
    int current = -1;
    EXPECT(cudaGetDevice(&current) == cudaSuccess && current == 0);
    OK(ncclCommDestroy(comm));
    return kFine;
  });
}
