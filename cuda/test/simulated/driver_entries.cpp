// What the runtime has no call for: functions of the driver's, by their names.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "simulated/call.hpp"
#include "simulated/current_device.hpp"
#include "simulated/memory_table.hpp"

using namespace dfccl::gpu::simulated;

namespace {

template <class Word>
bool isCome(Word found, Word wanted, unsigned flags) {
  using Signed = std::make_signed_t<Word>;
  switch (flags & 3u) {
    case CU_STREAM_WAIT_VALUE_EQ:
      return found == wanted;
    case CU_STREAM_WAIT_VALUE_AND:
      return (found & wanted) != 0;
    case CU_STREAM_WAIT_VALUE_NOR:
      return static_cast<Word>(~(found | wanted)) != 0;
    default:  // counted round its wrap
      return static_cast<Signed>(found - wanted) >= 0;
  }
}

/// A memory operation of a stream's. It goes on while another thread waits for the device with the context's lock,
/// unless the stream synchronizes with the default one.
template <class Act>
CUresult memoryOperation(CUstream handle, const Act& act) {
  Stream* const stream = Device::findStream(handle, currentDevice);
  if (stream == nullptr) return static_cast<CUresult>(errorOfMissing(handle));
  Device& device = Device::at(stream->device());
  const bool isFree = stream->order() == Stream::Order::free;
  const Call call(device, isFree ? unkindness().lockedMemoryOperations : unkindness().lockedLegacyOperations);
  device.order(*stream);
  act(*stream);
  return CUDA_SUCCESS;
}

/// A stream waits until a word in memory has come to a value. It looks again and again, as a device's does: whoever
/// writes the word wakes nobody.
template <class Word>
CUresult streamWaitValue(CUstream handle, CUdeviceptr address, Word value, unsigned flags) {
  auto& word = *reinterpret_cast<std::atomic<Word>*>(address);
  return memoryOperation(handle, [&](Stream& stream) {
    stream.put([&word, value, flags] {
      while (!isCome(word.load(std::memory_order_acquire), value, flags)) usleep(20);
    });
  });
}

template <class Word>
CUresult streamWriteValue(CUstream handle, CUdeviceptr address, Word value, unsigned) {
  auto& word = *reinterpret_cast<std::atomic<Word>*>(address);
  if (unkindness().refusedStores.takeOne()) return CUDA_ERROR_UNKNOWN;
  return memoryOperation(handle, [&](Stream& stream) {
    stream.putBrief([&word, value] { word.store(value, std::memory_order_seq_cst); });
  });
}

CUresult pointerGetAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr address) {
  const Call call(currentOne(), unkindness().lockedAttributes);
  const auto piece = pieceAt(reinterpret_cast<const void*>(address));
  if (!piece) return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      *static_cast<CUdeviceptr*>(value) = piece->begin;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      *static_cast<size_t*>(value) = piece->bytes;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      *static_cast<unsigned long long*>(value) = std::getenv("SIMULATED_ALIKE") ? 1 : piece->identity;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<CUmemorytype*>(value) = piece->isPinned() ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *static_cast<int*>(value) = piece->device;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      *static_cast<int*>(value) = piece->kind == Piece::Kind::device;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

/// Another module each time.
CUresult moduleLoadData(CUmodule* module, const void*) {
  static std::atomic<int> loaded{1 << 20};
  const Call call(currentOne());
  const int number = ++loaded;
  currentOne().load({number});
  *module = reinterpret_cast<CUmodule>(static_cast<intptr_t>(number));
  return CUDA_SUCCESS;
}

const struct {
  const char* name;
  void* function;
} kEntries[] = {
    {"cuPointerGetAttribute", reinterpret_cast<void*>(&pointerGetAttribute)},
    {"cuStreamWaitValue32", reinterpret_cast<void*>(&streamWaitValue<cuuint32_t>)},
    {"cuStreamWriteValue32", reinterpret_cast<void*>(&streamWriteValue<cuuint32_t>)},
    {"cuStreamWaitValue64", reinterpret_cast<void*>(&streamWaitValue<cuuint64_t>)},
    {"cuStreamWriteValue64", reinterpret_cast<void*>(&streamWriteValue<cuuint64_t>)},
    {"cuModuleLoadData", reinterpret_cast<void*>(&moduleLoadData)},
};

}  // namespace

extern "C" cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, unsigned long long,
                                                        cudaDriverEntryPointQueryResult* result) {
  for (const auto& entry : kEntries) {
    if (std::strcmp(name, entry.name) != 0) continue;
    *function = entry.function;
    *result = cudaDriverEntryPointSuccess;
    return cudaSuccess;
  }
  return answer(cudaErrorInvalidValue);
}
