// Which calls of CUDA block until the device is idle: beside a stream that waits for a word of the host's memory, and
// beside a kernel that spins on it. Each in a process of its own, because a call that blocks may hold the driver.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>

#include "bench/harness.hpp"
#include "bench/waiting_stream.hpp"

namespace dfccl::gpu::bench {
namespace {

constexpr size_t kMebi = size_t{1} << 20;

__device__ int deviceWord;

__global__ void spinKernel(const volatile uint32_t* word) {
  while (*word == 0) {
  }
}
// Each is launched once: its first launch loads it.
__global__ void firstKernel(int* word) { *word = 1; }
__global__ void secondKernel(int* word) { *word = 2; }
__global__ void sharedKernel(int* word) {
  extern __shared__ int shared[];
  shared[threadIdx.x] = 1;
  __syncthreads();
  *word = shared[0];
}
__global__ void printKernel(const int* word) {
  if (*word == -1) printf("never\n");
}
__global__ void stackKernel(int* word) {
  volatile int stack[12'000];
  for (int i = 0; i < 100; ++i) stack[i * 7] = i;
  *word = stack[*word & 127];
}

constexpr const char* kPtx = ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n";

/// What was made before the device has anything to do.
struct Bench {
  cudaStream_t stream = nullptr;
  int* memory = nullptr;
  void *toFree = nullptr, *toFreeLater = nullptr, *pinned = nullptr, *host = nullptr, *registered = nullptr;
  cudaArray_t array = nullptr;
};

struct Call {
  const char* name;
  void (*make)(Bench&);
};

void captureAndLaunch(Bench& b) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  cudaStreamBeginCapture(b.stream, cudaStreamCaptureModeThreadLocal);
  cudaMemsetAsync(b.memory, 0, 64, b.stream);
  cudaStreamEndCapture(b.stream, &graph);
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphLaunch(executable, b.stream);
}

const Call kCalls[] = {
    {"cudaDeviceSynchronize", [](Bench&) { cudaDeviceSynchronize(); }},
    {"cudaFree", [](Bench& b) { cudaFree(b.toFree); }},
    {"cudaFreeHost", [](Bench& b) { cudaFreeHost(b.pinned); }},
    {"cudaFreeArray", [](Bench& b) { cudaFreeArray(b.array); }},
    {"cudaFreeAsync", [](Bench& b) { cudaFreeAsync(b.toFreeLater, b.stream); }},
    {"cudaMalloc", [](Bench& b) { cudaMalloc(&b.host, 1024 * kMebi); }},
    {"cudaMallocHost", [](Bench& b) { cudaMallocHost(&b.host, 64 * kMebi); }},
    {"cudaMallocAsync", [](Bench& b) { cudaMallocAsync(&b.host, 64 * kMebi, b.stream); }},
    {"cudaHostRegister", [](Bench& b) { cudaHostRegister(b.host, 16 * kMebi, 0); }},
    {"cudaHostUnregister", [](Bench& b) { cudaHostUnregister(b.registered); }},
    {"first launch of a kernel", [](Bench& b) { firstKernel<<<1, 1, 0, b.stream>>>(b.memory); }},
    {"first launches of two kernels, then cudaStreamSynchronize",
     [](Bench& b) {
       firstKernel<<<1, 1, 0, b.stream>>>(b.memory);
       secondKernel<<<1, 1, 0, b.stream>>>(b.memory);
       cudaStreamSynchronize(b.stream);
     }},
    {"first launch of a kernel with 200 KiB of shared memory",
     [](Bench& b) {
       cudaFuncSetAttribute(sharedKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10);
       sharedKernel<<<1, 32, 200 << 10, b.stream>>>(b.memory);
     }},
    {"first launch of a kernel that prints", [](Bench& b) { printKernel<<<1, 1, 0, b.stream>>>(b.memory); }},
    {"first launch of a kernel with 48 KB of stack", [](Bench& b) { stackKernel<<<1, 32, 0, b.stream>>>(b.memory); }},
    {"cuModuleLoadData",
     [](Bench&) {
       CUmodule module = nullptr;
       driverFunction<CUresult (*)(CUmodule*, const void*)>("cuModuleLoadData")(&module, kPtx);
     }},
    {"cudaMemcpyToSymbolAsync",
     [](Bench& b) {
       const int value = 3;
       cudaMemcpyToSymbolAsync(deviceWord, &value, sizeof value, 0, cudaMemcpyHostToDevice, b.stream);
     }},
    {"cudaDeviceSetLimit of the stack", [](Bench&) { cudaDeviceSetLimit(cudaLimitStackSize, 64 << 10); }},
    {"cudaDeviceSetLimit of the heap", [](Bench&) { cudaDeviceSetLimit(cudaLimitMallocHeapSize, 256 * kMebi); }},
    {"a graph captured, instantiated, launched", captureAndLaunch},
    {"cudaMemcpy", [](Bench& b) { cudaMemcpy(b.memory, b.host, kMebi, cudaMemcpyHostToDevice); }},
    {"cudaMemset on the legacy default stream", [](Bench& b) { cudaMemset(b.memory, 0, kMebi); }},
    {"a stream made and destroyed",
     [](Bench&) {
       cudaStream_t made = nullptr;
       cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking);
       cudaStreamDestroy(made);
     }},
};

/// @return exit code: 0 it returned, 1 it blocked until the device was idle.
int probe(const Call& call, bool besideStream) {
  Bench bench;
  cudaStream_t busy = nullptr;
  cudaStreamCreateWithFlags(&busy, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&bench.stream, cudaStreamNonBlocking);
  cudaMalloc(reinterpret_cast<void**>(&bench.memory), kMebi);
  cudaMemset(bench.memory, 0, kMebi);
  cudaMalloc(&bench.toFree, 4 * kMebi);
  cudaMallocAsync(&bench.toFreeLater, kMebi, bench.stream);
  cudaMallocHost(&bench.pinned, kMebi);
  bench.host = std::aligned_alloc(4096, 16 * kMebi);
  bench.registered = std::aligned_alloc(4096, kMebi);
  cudaHostRegister(bench.registered, kMebi, 0);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMallocArray(&bench.array, &format, 64, 64);
  volatile uint32_t* const word = hostWords(2);
  spinKernel<<<1, 1, 0, busy>>>(word + 1);
  word[1] = 1;
  cudaDeviceSynchronize();
  if (besideStream) {
    letWait(busy, word);
  } else {
    spinKernel<<<1, 1, 0, busy>>>(word);
  }
  usleep(20'000);
  std::atomic<bool> hasReturned{false};
  std::thread caller([&] {
    cudaSetDevice(0);
    call.make(bench);
    hasReturned = true;
  });
  const uint64_t begin = nowNanos();
  while (!hasReturned && nowNanos() - begin < 500'000'000) usleep(200);
  const bool isBlocked = !hasReturned;
  *word = 1;
  caller.join();
  return isBlocked ? 1 : 0;
}

}  // namespace

int runBlockedCalls(const Arguments&) {
  for (const bool besideStream : {true, false}) {
    for (const Call& call : kCalls) {
      const int child = fork();
      if (child == 0) _exit(probe(call, besideStream));
      int status = 0;
      waitpid(child, &status, 0);
      const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 2;
      std::printf("{\"bench\":\"blocked-calls\",\"beside\":\"%s\",\"call\":\"%s\",\"result\":\"%s\"}\n",
                  besideStream ? "a stream that waits" : "a kernel that spins", call.name,
                  std::array{"returns", "blocks", "failed"}[static_cast<size_t>(code > 2 ? 2 : code)]);
      std::fflush(stdout);
    }
  }
  return 0;
}

}  // namespace dfccl::gpu::bench
