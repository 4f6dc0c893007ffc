#include "measure/device_memory.hpp"

#include "measure/exact_kernels.cuh"

namespace dfccl::gpu::measure {

DeviceMemory::DeviceMemory(const std::vector<int>& devices, uint32_t firstRank) : firstRank_(firstRank) {
  for (const int device : devices) {
    const OnDevice here(device);
    RankDevice place{device, nullptr, nullptr};
    DFCCL_CUDA(cudaStreamCreateWithFlags(&place.stream, cudaStreamNonBlocking));
    DFCCL_CUDA(cudaMalloc(reinterpret_cast<void**>(&place.wrong), sizeof *place.wrong));
    places_.push_back(place);
  }
}

DeviceMemory::~DeviceMemory() {
  for (const RankDevice& place : places_) {
    cudaFree(place.wrong);
    cudaStreamDestroy(place.stream);
  }
}

char* DeviceMemory::allocate(uint32_t rank, size_t bytes) {
  const RankDevice& place = of(rank);
  const OnDevice here(place.device);
  void* memory = nullptr;
  if (cudaMalloc(&memory, bytes) == cudaErrorMemoryAllocation) throw std::bad_alloc();
  DFCCL_CUDA(cudaMemsetAsync(memory, kPlain, bytes, place.stream));
  DFCCL_CUDA(cudaStreamSynchronize(place.stream));
  return static_cast<char*>(memory);
}

void DeviceMemory::free(uint32_t rank, char* memory) {
  const OnDevice here(of(rank).device);
  cudaFree(memory);
}

void DeviceMemory::clear(uint32_t rank, void* at, size_t bytes) {
  if (bytes == 0) return;
  const RankDevice& place = of(rank);
  const OnDevice here(place.device);
  DFCCL_CUDA(cudaMemsetAsync(at, 0, bytes, place.stream));
  DFCCL_CUDA(cudaStreamSynchronize(place.stream));
}

void DeviceMemory::read(uint32_t rank, void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  const RankDevice& place = of(rank);
  const OnDevice here(place.device);
  DFCCL_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, place.stream));
  DFCCL_CUDA(cudaStreamSynchronize(place.stream));
}

void DeviceMemory::write(uint32_t rank, void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  const RankDevice& place = of(rank);
  const OnDevice here(place.device);
  DFCCL_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, place.stream));
  DFCCL_CUDA(cudaStreamSynchronize(place.stream));
}

void DeviceMemory::fill(uint32_t rank, void* out, uint64_t count, const bench::ExactData& data) {
  const RankDevice& place = of(rank);
  const OnDevice here(place.device);
  fillExact(data, out, count, rank, place.stream);
  DFCCL_CUDA(cudaGetLastError());
  DFCCL_CUDA(cudaStreamSynchronize(place.stream));
}

uint64_t DeviceMemory::countWrong(const std::vector<bench::Received>& results, const bench::Case& shape,
                                  const bench::ExactData& data) {
  uint64_t wrong = 0;
  for (const auto& [rank, got] : results) {
    const RankDevice& place = of(rank);
    const OnDevice here(place.device);
    clear(rank, place.wrong, sizeof *place.wrong);
    const auto* const bytes = static_cast<const char*>(got);
    shape.forEachExpected(rank, [&](uint64_t at, uint64_t first, uint64_t count, uint32_t source) {
      compareExact(data, bytes + at * shape.elementBytes(), first, count, source, place.wrong, place.stream);
    });
    DFCCL_CUDA(cudaGetLastError());
    unsigned long long mine = 0;
    read(rank, &mine, place.wrong, sizeof mine);
    wrong += mine;
  }
  return wrong;
}

}  // namespace dfccl::gpu::measure
