// What still starts beside streams that wait, of which priority: CUDA puts a device's streams on few hardware queues.
#include <unistd.h>

#include <vector>

#include "bench/harness.hpp"
#include "bench/waiting_stream.hpp"

namespace dfccl::gpu::bench {
namespace {

constexpr int kStreams = 16;

__global__ void setKernel(volatile uint32_t* word) { *word = 1; }

std::vector<cudaStream_t> streamsOf(int count, int priority) {
  std::vector<cudaStream_t> streams(static_cast<size_t>(count));
  for (cudaStream_t& stream : streams) cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority);
  return streams;
}

int countThatRun(int waiting, int priority, int otherPriority) {
  static volatile uint32_t* const words = hostWords(kStreams + 1);
  volatile uint32_t& isOver = words[kStreams];
  const std::vector<cudaStream_t> waiters = streamsOf(waiting, priority), others = streamsOf(kStreams, otherPriority);
  for (int i = 0; i <= kStreams; ++i) words[i] = 0;
  for (const cudaStream_t stream : waiters) letWait(stream, &isOver);
  usleep(3000);
  for (int i = 0; i < kStreams; ++i) setKernel<<<1, 1, 0, others[static_cast<size_t>(i)]>>>(words + i);
  usleep(10'000);
  int ran = 0;
  for (int i = 0; i < kStreams; ++i) ran += static_cast<int>(words[i]);
  isOver = 1;
  cudaDeviceSynchronize();
  for (const cudaStream_t stream : waiters) cudaStreamDestroy(stream);
  for (const cudaStream_t stream : others) cudaStreamDestroy(stream);
  return ran;
}

}  // namespace

int runHardwareQueues(const Arguments&) {
  int least = 0, greatest = 0;
  cudaDeviceGetStreamPriorityRange(&least, &greatest);
  const char* const connections = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
  setKernel<<<1, 1>>>(hostWords(1));
  cudaDeviceSynchronize();
  for (const int waiting : {1, 7, 8, 64}) {
    for (const int priority : {least, greatest}) {
      for (const int otherPriority : {least, greatest}) {
        std::printf(
            "{\"bench\":\"hardware-queues\",\"connections\":\"%s\",\"waiting\":%d,\"priority\":%d,\"others\":%d,"
            "\"otherPriority\":%d,\"ran\":%d}\n",
            connections == nullptr ? "default" : connections, waiting, priority, kStreams, otherPriority,
            countThatRun(waiting, priority, otherPriority));
        std::fflush(stdout);
      }
    }
  }
  return 0;
}

}  // namespace dfccl::gpu::bench
