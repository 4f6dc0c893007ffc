// Each of NCCL's collectives and operators, ranks as threads.
#include "nccl_api/test/ranks.hpp"

using namespace dfccl::nccl::test;

namespace {

constexpr int kRanks = 4;
/// What a rank has, in the part that is for another one.
float valueOf(int rank, int part) { return static_cast<float>(rank * 10 + part); }

/// A rank of a communicator, with a part of `send` and `recv` for each rank.
struct Rank {
  Rank(const ncclUniqueId& id, int number) : rank(number), comm(id, kRanks, number) {
    for (int part = 0; part < kRanks; ++part) {
      send.fill(valueOf(number, part), offsetOf(part), kCount);
    }
  }
  static size_t offsetOf(int part) { return static_cast<size_t>(part) * kCount; }
  static float* partOf(const Buffer& buffer, int part) { return buffer.data() + offsetOf(part); }
  bool hasReceived(int part, float value) const { return recv.isAll(value, offsetOf(part), kCount); }

  const int rank;
  const Comm comm;
  const RankStream stream;
  const Buffer send{kRanks * kCount, 0}, recv{kRanks * kCount, -1};
};

void onEach(const std::function<void(Rank&)>& run) {
  const ncclUniqueId id = newId();
  onRanks(kRanks, [&](int number) {
    Rank rank(id, number);
    run(rank);
  });
}

}  // namespace

TEST_CASE("all-reduce by every operator") {
  const std::pair<ncclRedOp_t, float> results[] = {
      {ncclSum, 60}, {ncclProd, 0}, {ncclMax, 30}, {ncclMin, 0}, {ncclAvg, 15}};
  onEach([&](Rank& r) {
    for (const auto& [op, result] : results) {
      CHECK_NCCL(ncclAllReduce(r.send, r.recv, kCount, ncclFloat32, op, r.comm, r.stream));
      CHECK(r.stream.synchronize());
      CHECK(r.hasReceived(0, result));
    }
    CHECK_NCCL(ncclAllReduce(r.send, r.send, kCount, ncclFloat32, ncclSum, r.comm, r.stream));
    CHECK(r.stream.synchronize());
    CHECK(r.send.isAll(60, 0, kCount));
  });
}

TEST_CASE("reduce and broadcast, from every root") {
  onEach([](Rank& r) {
    for (int root = 0; root < kRanks; ++root) {
      void* const into = r.rank == root ? r.recv.data() : nullptr;
      CHECK_NCCL(ncclReduce(r.send, into, kCount, ncclFloat32, ncclSum, root, r.comm, r.stream));
      CHECK(r.stream.synchronize());
      if (r.rank == root) CHECK(r.hasReceived(0, 60));
      CHECK_NCCL(ncclBroadcast(r.send, r.recv, kCount, ncclFloat32, root, r.comm, r.stream));
      CHECK(r.stream.synchronize());
      CHECK(r.hasReceived(0, valueOf(root, 0)));
      Buffer buffer(kCount, static_cast<float>(r.rank));
      CHECK_NCCL(ncclBcast(buffer, kCount, ncclFloat32, root, r.comm, r.stream));
      CHECK(r.stream.synchronize());
      CHECK(buffer.isAll(static_cast<float>(root)));
    }
  });
}

TEST_CASE("all-gather, reduce-scatter and all-to-all") {
  onEach([](Rank& r) {
    CHECK_NCCL(ncclAllGather(r.send, r.recv, kCount, ncclFloat32, r.comm, r.stream));
    CHECK(r.stream.synchronize());
    for (int from = 0; from < kRanks; ++from) CHECK(r.hasReceived(from, valueOf(from, 0)));
    CHECK_NCCL(ncclReduceScatter(r.send, r.recv, kCount, ncclFloat32, ncclSum, r.comm, r.stream));
    CHECK(r.stream.synchronize());
    CHECK(r.hasReceived(0, 60.0F + 4.0F * static_cast<float>(r.rank)));
    CHECK_NCCL(ncclAlltoAll(r.send, r.recv, kCount, ncclFloat32, r.comm, r.stream));
    CHECK(r.stream.synchronize());
    for (int from = 0; from < kRanks; ++from) CHECK(r.hasReceived(from, valueOf(from, r.rank)));
    // In place too, which NCCL lets callers do, without a word on what comes of it.
    for (int part = 0; part < kRanks; ++part) r.recv.fill(valueOf(r.rank, part), Rank::offsetOf(part), kCount);
    CHECK_NCCL(ncclAlltoAll(r.recv, r.recv, kCount, ncclFloat32, r.comm, r.stream));
    CHECK(r.stream.synchronize());
    for (int from = 0; from < kRanks; ++from) CHECK(r.hasReceived(from, valueOf(from, r.rank)));
    // In place, as NCCL has it.
    float* const own = Rank::partOf(r.recv, r.rank);
    r.recv.fill(valueOf(r.rank, 0), Rank::offsetOf(r.rank), kCount);
    CHECK_NCCL(ncclAllGather(own, r.recv, kCount, ncclFloat32, r.comm, r.stream));
    CHECK(r.stream.synchronize());
    for (int from = 0; from < kRanks; ++from) CHECK(r.hasReceived(from, valueOf(from, 0)));
    CHECK_NCCL(ncclReduceScatter(r.send, Rank::partOf(r.send, r.rank), kCount, ncclFloat32, ncclSum, r.comm, r.stream));
    CHECK(r.stream.synchronize());
    CHECK(r.send.isAll(60.0F + 4.0F * static_cast<float>(r.rank), Rank::offsetOf(r.rank), kCount));
  });
}

TEST_CASE("gather and scatter, from every root") {
  onEach([](Rank& r) {
    for (int root = 0; root < kRanks; ++root) {
      const bool isRoot = r.rank == root;
      CHECK_NCCL(ncclGather(r.send, isRoot ? r.recv.data() : nullptr, kCount, ncclFloat32, root, r.comm, r.stream));
      CHECK(r.stream.synchronize());
      for (int from = 0; isRoot && from < kRanks; ++from) CHECK(r.hasReceived(from, valueOf(from, 0)));
      CHECK_NCCL(ncclScatter(isRoot ? r.send.data() : nullptr, r.recv, kCount, ncclFloat32, root, r.comm, r.stream));
      CHECK(r.stream.synchronize());
      CHECK(r.hasReceived(0, valueOf(root, r.rank)));
      // In place.
      float* const own = Rank::partOf(r.recv, r.rank);
      r.recv.fill(valueOf(r.rank, 1), Rank::offsetOf(r.rank), kCount);
      CHECK_NCCL(ncclGather(own, isRoot ? r.recv.data() : nullptr, kCount, ncclFloat32, root, r.comm, r.stream));
      CHECK(r.stream.synchronize());
      for (int from = 0; isRoot && from < kRanks; ++from) CHECK(r.hasReceived(from, valueOf(from, 1)));
      float* const into = isRoot ? Rank::partOf(r.recv, root) : r.recv.data();
      CHECK_NCCL(ncclScatter(isRoot ? r.recv.data() : nullptr, into, kCount, ncclFloat32, root, r.comm, r.stream));
      CHECK(r.stream.synchronize());
      CHECK(r.hasReceived(isRoot ? root : 0, valueOf(isRoot ? root : r.rank, 1)));
    }
  });
}

TEST_CASE("sums of what each rank multiplies by a scalar of its own, the host's or the device's") {
  const ncclUniqueId id = newId();
  onRanks(kRanks, [&](int number) {
    Rank r(id, number);
    r.send.fill(static_cast<float>(number + 1));
    const Buffer scalar(1, static_cast<float>(number + 2));
    for (const ncclScalarResidence_t residence : {ncclScalarHostImmediate, ncclScalarDevice}) {
      CAPTURE(residence);
      auto host = static_cast<float>(number + 2);
      ncclRedOp_t op;
      void* const at = residence == ncclScalarDevice ? scalar.data() : &host;
      CHECK_NCCL(ncclRedOpCreatePreMulSum(&op, at, ncclFloat32, residence, r.comm));
      host = 0;
      constexpr float kSum = 1 * 2 + 2 * 3 + 3 * 4 + 4 * 5;
      CHECK_NCCL(ncclAllReduce(r.send, r.recv, kCount, ncclFloat32, op, r.comm, r.stream));
      CHECK(r.stream.synchronize());
      CHECK(r.hasReceived(0, kSum));
      r.recv.fill(-1);
      CHECK_NCCL(ncclReduceScatter(r.send, r.recv, kCount, ncclFloat32, op, r.comm, r.stream));
      CHECK_NCCL(ncclReduce(r.send, Rank::partOf(r.recv, 1), kCount, ncclFloat32, op, 2, r.comm, r.stream));
      CHECK(r.stream.synchronize());
      CHECK(r.hasReceived(0, kSum));
      if (number == 2) CHECK(r.hasReceived(1, kSum));
      CHECK(r.send.isAll(static_cast<float>(number + 1)));
      CHECK(ncclAllReduce(r.send, r.recv, kCount, ncclInt32, op, r.comm, r.stream) == ncclInvalidArgument);
      CHECK_NCCL(ncclRedOpDestroy(op, r.comm));
      CHECK(ncclAllReduce(r.send, r.recv, kCount, ncclFloat32, op, r.comm, r.stream) == ncclInvalidArgument);
    }
  });
}

TEST_CASE("a device's scalar is read when the stream comes to the run") {
  onEach([](Rank& r) {
    r.send.fill(1);
    const Buffer scalar(1, 0), later(1, static_cast<float>(r.rank));
    ncclRedOp_t op;
    CHECK_NCCL(ncclRedOpCreatePreMulSum(&op, scalar.data(), ncclFloat32, ncclScalarDevice, r.comm));
    CHECK(cudaMemcpyAsync(scalar, later, sizeof(float), cudaMemcpyDeviceToDevice, r.stream) == cudaSuccess);
    CHECK_NCCL(ncclAllReduce(r.send, r.recv, kCount, ncclFloat32, op, r.comm, r.stream));
    CHECK(r.stream.synchronize());
    CHECK(r.hasReceived(0, 0 + 1 + 2 + 3));
  });
}

TEST_CASE("an empty collective asks nothing of anybody, and a message to oneself arrives") {
  onEach([](Rank& r) {
    if (r.rank == 0) CHECK_NCCL(ncclAllReduce(nullptr, nullptr, 0, ncclFloat32, ncclSum, r.comm, r.stream));
    CHECK_NCCL(ncclGroupStart());
    CHECK_NCCL(ncclSend(r.send, kCount, ncclFloat32, r.rank, r.comm, r.stream));
    CHECK_NCCL(ncclRecv(r.recv, kCount, ncclFloat32, r.rank, r.comm, r.stream));
    CHECK_NCCL(ncclGroupEnd());
    CHECK(r.stream.synchronize());
    CHECK(r.hasReceived(0, valueOf(r.rank, 0)));
  });
}
