// What CUDA IPC does here, without any of dfccl: can another process map memory, read it, and what becomes of that when
// the owner frees it or dies?
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <new>

#include "bench/seats.hpp"

namespace dfccl::gpu::bench {
namespace {

constexpr size_t kLarge = size_t{64} << 20;
constexpr size_t kSmall = 512;

struct Board {
  Atomic<uint32_t> stage;
  cudaIpcMemHandle_t large, small;
};

void awaitStage(Board& board, uint32_t stage) {
  const uint64_t begin = nowNanos();
  while (board.stage.load(order::acquire) < stage) {
    if (nowNanos() - begin > 20'000'000'000) {
      std::printf("{\"probe\":\"the other process didn't reach stage %u\"}\n", stage);
      std::fflush(stdout);
      _exit(1);
    }
    usleep(200);
  }
}

int own(Board& board) {
  cudaSetDevice(0);
  uint8_t *large = nullptr, *small = nullptr, *before = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&large), kLarge);
  cudaMalloc(reinterpret_cast<void**>(&before), kSmall);  // so that the next one begins no block of the driver's
  cudaMalloc(reinterpret_cast<void**>(&small), kSmall);
  cudaMemset(large, 7, kLarge);
  cudaMemset(before, 8, kSmall);
  cudaMemset(small, 9, kSmall);
  cudaDeviceSynchronize();
  std::printf("{\"probe\":\"export\",\"large\":\"%s\"", cudaGetErrorName(cudaIpcGetMemHandle(&board.large, large)));
  std::printf(",\"small\":\"%s\"}\n", cudaGetErrorName(cudaIpcGetMemHandle(&board.small, small)));
  std::fflush(stdout);
  board.stage.store(1, order::release);
  awaitStage(board, 2);
  cudaFree(small);
  void* again = nullptr;
  cudaMalloc(&again, kSmall);
  std::printf("{\"probe\":\"made anew\",\"isAtSameAddress\":%s}\n", again == small ? "true" : "false");
  std::fflush(stdout);
  board.stage.store(3, order::release);
  for (;;) pause();
}

void read(const char* what, const uint8_t* from) {
  int first = 0;
  uint8_t bytes[16] = {};
  const cudaError_t error = cudaMemcpy(bytes, from, sizeof bytes, cudaMemcpyDeviceToHost);
  first = bytes[0];
  std::printf("{\"probe\":\"%s\",\"cuda\":\"%s\",\"byte\":%d}\n", what, cudaGetErrorName(error), first);
  std::fflush(stdout);
}

int look(Board& board, int owner) {
  int devices = 1;
  cudaGetDeviceCount(&devices);
  cudaSetDevice(devices - 1);
  cudaFree(nullptr);
  awaitStage(board, 1);
  uint8_t *large = nullptr, *small = nullptr;
  const uint64_t begin = nowNanos();
  const cudaError_t first =
      cudaIpcOpenMemHandle(reinterpret_cast<void**>(&large), board.large, cudaIpcMemLazyEnablePeerAccess);
  const uint64_t middle = nowNanos();
  const cudaError_t second =
      cudaIpcOpenMemHandle(reinterpret_cast<void**>(&small), board.small, cudaIpcMemLazyEnablePeerAccess);
  std::printf("{\"probe\":\"open\",\"devices\":%d,\"large\":\"%s\",\"us\":%.0f,\"small\":\"%s\",\"us2\":%.0f}\n",
              devices, cudaGetErrorName(first), static_cast<double>(middle - begin) * 1e-3, cudaGetErrorName(second),
              static_cast<double>(nowNanos() - middle) * 1e-3);
  std::fflush(stdout);
  if (first != cudaSuccess) return 1;
  read("large: 7", large);
  if (second == cudaSuccess) read("small: 9", small);
  board.stage.store(2, order::release);
  awaitStage(board, 3);
  if (second == cudaSuccess) read("small, freed by its owner", small);
  kill(owner, SIGKILL);
  usleep(500'000);
  read("large, its owner killed: 7", large);
  std::printf("{\"probe\":\"write after the owner's death\",\"cuda\":\"%s\"",
              cudaGetErrorName(cudaMemset(large, 3, kLarge)));
  std::printf(",\"synchronize\":\"%s\"", cudaGetErrorName(cudaDeviceSynchronize()));
  std::printf(",\"close\":\"%s\"}\n", cudaGetErrorName(cudaIpcCloseMemHandle(large)));
  std::fflush(stdout);
  return 0;
}

}  // namespace

int runIpcProbe(const Arguments&) {
  void* shared = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto& board = *new (shared) Board{};
  const int owner = fork();
  if (owner == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    _exit(own(board));
  }
  const int looker = fork();
  if (looker == 0) _exit(look(board, owner));
  int status = 0;
  waitpid(looker, &status, 0);
  kill(owner, SIGKILL);
  waitpid(owner, nullptr, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

}  // namespace dfccl::gpu::bench
