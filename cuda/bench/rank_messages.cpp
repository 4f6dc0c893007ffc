// Times of messages between two ranks, to be compared with what carries them alone (ucx_perftest).
#include <algorithm>
#include <cstdio>
#include <vector>

#include "bench/pattern.cuh"
#include "bench/rank_buffers.hpp"
#include "bench/rank_tasks.hpp"

namespace dfccl::gpu::bench {
namespace {

constexpr uint64_t kOutstanding = 16, kWaitMicros = 20'000'000;

struct Messages {
  Seat& seat;
  dfcclGroup_t group = nullptr;
  const Floats& in;
  const Floats& out;
  uint64_t count;  // of one

  int peer() const { return 1 - static_cast<int>(seat.rank); }
  dfcclRequest_t send(uint64_t tag) const {
    dfcclRequest_t request = nullptr;
    DFCCL_EXPECT(dfcclSend(in.data() + tag * count, count, dfcclFloat32, peer(), group, tag, nullptr, &request));
    return request;
  }
  dfcclRequest_t receive(uint64_t tag) const {
    dfcclRequest_t request = nullptr;
    DFCCL_EXPECT(dfcclRecv(out.data() + tag * count, count, dfcclFloat32, peer(), group, tag, nullptr, &request));
    return request;
  }
  static void wait(dfcclRequest_t request) { DFCCL_EXPECT(dfcclWaitRun(request, kWaitMicros)); }
};

double halfRoundTrip(const Messages& messages, uint64_t rounds) {
  std::vector<double> times;
  for (uint64_t i = 0; i < rounds + rounds / 4; ++i) {
    const dfcclRequest_t comes = messages.receive(0);
    const uint64_t begin = nowNanos();
    if (messages.seat.rank == 1) Messages::wait(comes);
    const dfcclRequest_t goes = messages.send(0);
    if (messages.seat.rank == 0) Messages::wait(comes);
    if (i >= rounds / 4) times.push_back(static_cast<double>(nowNanos() - begin) * 0.5e-3);
    Messages::wait(goes);
  }
  return median(times);
}

/// Rank 0 sends, so many at a time. @return microseconds a message
double oneBehindTheOther(const Messages& messages, uint64_t rounds) {
  std::vector<double> times;
  for (uint64_t i = 0; i < rounds + rounds / 4; ++i) {
    messages.seat.meet();
    const uint64_t begin = nowNanos();
    std::vector<dfcclRequest_t> requests;
    for (uint64_t tag = 0; tag < kOutstanding; ++tag) {
      requests.push_back(messages.seat.rank == 0 ? messages.send(tag) : messages.receive(tag));
    }
    DFCCL_EXPECT(dfcclWaitRuns(requests.data(), static_cast<int>(requests.size()), kWaitMicros));
    messages.seat.meet();
    if (i >= rounds / 4) times.push_back(static_cast<double>(nowNanos() - begin) * 1e-3 / kOutstanding);
  }
  return median(times);
}

/// One message from rank 0 to rank 1, from the call to its end, while receives wait that nobody sends to.
/// @param waiting ranks that have one, a bit each
double besideWaiting(const Messages& messages, uint64_t rounds, uint32_t waiting) {
  constexpr uint64_t kTag = kOutstanding - 1;
  const bool waits = (waiting >> messages.seat.rank & 1) != 0, isAwaited = (waiting >> messages.peer() & 1) != 0;
  std::vector<double> times;
  const dfcclRequest_t comes = waits ? messages.receive(kTag) : nullptr;
  for (uint64_t i = 0; i < rounds + rounds / 4; ++i) {
    messages.seat.meet();
    const uint64_t begin = nowNanos();
    Messages::wait(messages.seat.rank == 0 ? messages.send(0) : messages.receive(0));
    if (i >= rounds / 4) times.push_back(static_cast<double>(nowNanos() - begin) * 1e-3);
  }
  if (isAwaited) Messages::wait(messages.send(kTag));
  if (waits) Messages::wait(comes);
  messages.seat.meet();
  return median(times);
}

}  // namespace

void timeMessages(Seat& seat, uint64_t bytes) {
  const uint64_t count = bytes / sizeof(float);
  const uint64_t rounds = bytes >= (4u << 20) ? 20 : 200;
  // At least a block of the driver's each: while a piece of one is mapped, pieces made anew in it wait to be.
  const uint64_t most = std::max(count * kOutstanding, uint64_t{1} << 19);
  const Floats in(most), out(most);
  for (uint64_t tag = 0; tag < kOutstanding; ++tag) {
    fill(in.data() + tag * count, count, seat.rank, static_cast<uint32_t>(tag), seat.stream);
  }
  DFCCL_CUDA(cudaStreamSynchronize(seat.stream));
  dfcclGroup_t group = nullptr;
  DFCCL_EXPECT(dfcclGroupCreate(nullptr, 0, 0, &group, seat.context));
  const Messages messages{seat, group, in, out, count};
  seat.meet();
  const double half = halfRoundTrip(messages, rounds);
  double one[4];
  for (uint32_t waiting = 0; waiting < 4; ++waiting) one[waiting] = besideWaiting(messages, rounds, waiting);
  const double each = oneBehindTheOther(messages, rounds / 4);
  if (seat.rank == 0) {
    std::printf(
        "{\"as\":\"%s\",\"measure\":\"messages\",\"bytes\":%lu,\"halfRoundTripUs\":%.2f,\"oneUs\":%.2f,"
        "\"besideWaitOfSender\":%.2f,\"besideWaitOfReceiver\":%.2f,\"besideWaitOfBoth\":%.2f,\"usEachOf%lu\":%.2f,"
        "\"GBs\":%.3f}\n",
        kindOf(seat), bytes, half, one[0], one[1], one[2], one[3], kOutstanding, each,
        static_cast<double>(bytes) / each * 1e-3);
    std::fflush(stdout);
  }
  seat.meet();
  DFCCL_EXPECT(dfcclGroupDestroy(group));
}

}  // namespace dfccl::gpu::bench
