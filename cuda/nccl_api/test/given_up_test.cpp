// Calls that end in an error: what is left is as if they had not been.
#include <cstddef>
#include <cstring>

#include "nccl_api/test/ranks.hpp"

using namespace dfccl::nccl::test;

TEST_CASE("a communicator may be destroyed in the group that was to make it") {
  cudaSetDevice(deviceOf(0));
  ncclComm_t comm = nullptr;
  CHECK_NCCL(ncclGroupStart());
  CHECK_NCCL(ncclCommInitRank(&comm, 2, newId(), 0));
  CHECK_NCCL(ncclCommDestroy(comm));
  CHECK_NCCL(ncclGroupEnd());
}

TEST_CASE("a group of which a call is refused changes no buffer that another call was to multiply") {
  cudaSetDevice(deviceOf(0));
  const Comm comm(newId(), 1, 0);
  const RankStream stream;
  const Buffer values(kCount, 1);
  std::vector<float> ofHost(kCount);
  ncclRedOp_t tripled{};
  float three = 3;
  CHECK_NCCL(ncclRedOpCreatePreMulSum(&tripled, &three, ncclFloat32, ncclScalarHostImmediate, comm));
  CHECK_NCCL(ncclGroupStart());
  CHECK_NCCL(ncclAllReduce(values, values, kCount, ncclFloat32, tripled, comm, stream));
  CHECK_NCCL(ncclAllReduce(ofHost.data(), ofHost.data(), kCount, ncclFloat32, ncclSum, comm, stream));
  CHECK(ncclGroupEnd() == ncclInvalidArgument);
  CHECK(stream.synchronize());
  CHECK(values.isAll(1));
  CHECK_NCCL(ncclAllReduce(values, values, kCount, ncclFloat32, tripled, comm, stream));
  CHECK(stream.synchronize());
  CHECK(values.isAll(3));
  CHECK_NCCL(ncclRedOpDestroy(tripled, comm));
}

TEST_CASE("a scalar that a GPU can't read is refused where its operator is made") {
  cudaSetDevice(deviceOf(0));
  const Comm comm(newId(), 1, 0);
  const Buffer scalars(2, 3);
  std::vector<float> ofHost(1, 3);
  ncclRedOp_t op{};
  const auto make = [&](void* scalar) {
    return ncclRedOpCreatePreMulSum(&op, scalar, ncclFloat32, ncclScalarDevice, comm);
  };
  CHECK(make(ofHost.data()) == ncclInvalidArgument);
  CHECK(make(reinterpret_cast<char*>(scalars.data()) + 1) == ncclInvalidArgument);
  CHECK_NCCL(make(scalars.data() + 1));
  CHECK_NCCL(ncclRedOpDestroy(op, comm));
}

TEST_CASE("of a config that ends within a name, the name is left out") {
  cudaSetDevice(deviceOf(0));
  ncclConfig_t config;
  std::memset(&config, 0x11, sizeof config);
  const ncclConfig_t usual = configThatDoesNotBlock();
  std::memcpy(&config, &usual, offsetof(ncclConfig_t, netName));
  config.minCTAs = config.maxCTAs = kNcclUnset;
  config.blocking = 1;
  config.size = offsetof(ncclConfig_t, netName) + 4;
  ncclComm_t comm = nullptr;
  CHECK_NCCL(ncclCommInitRankConfig(&comm, 1, newId(), 0, &config));
  CHECK_NCCL(ncclCommDestroy(comm));
}
