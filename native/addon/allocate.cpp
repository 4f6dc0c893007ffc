#include "allocate.hpp"

#include <sys/mman.h>

#include "arguments.hpp"
#include "error_conversion.hpp"
#include "world/refusals.hpp"

namespace dfccl::addon {

namespace {

/// Of an ArrayBuffer over memory that isn't JavaScript's: buffer.constants.MAX_LENGTH.
size_t mostBufferBytes(Napi::Env env) {
  const napi_node_version* version = nullptr;
  napi_get_node_version(env, &version);
  return version->major <= 20 ? size_t{1} << 32 : kMostBytes;
}

}  // namespace

size_t bytesOfBuffer(const Napi::CallbackInfo& info, size_t at) {
  const uint64_t bytes = wholeArgument(info, at, "bytes");
  checkAllocation(bytes, mostBufferBytes(info.Env()));
  return bytes;
}

Napi::Value allocate(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const size_t bytes = bytesOfBuffer(info, 0);
    if (bytes == 0) return Napi::ArrayBuffer::New(info.Env(), 0);
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      throw Error(dfcclOutOfMemory, "The system refused " + std::to_string(bytes) + " bytes for a buffer.",
                  "Free memory, or use smaller buffers.", {{"bytes", std::to_string(bytes)}});
    }
    // Fewer page faults and TLB misses on large tensors; the kernel may ignore it.
    if (bytes >= (size_t{4} << 20)) madvise(memory, bytes, MADV_HUGEPAGE);
    Napi::MemoryManagement::AdjustExternalMemory(info.Env(), static_cast<int64_t>(bytes));
    return Napi::ArrayBuffer::New(
        info.Env(), memory, bytes,
        [](Napi::Env env, void* data, size_t* length) {
          munmap(data, *length);
          Napi::MemoryManagement::AdjustExternalMemory(env, -static_cast<int64_t>(*length));
          delete length;
        },
        new size_t(bytes));
  });
}

Napi::Value addressOf(const Napi::CallbackInfo& info) {
  const void* address = nullptr;
  if (info[0].IsArrayBuffer()) {
    address = info[0].As<Napi::ArrayBuffer>().Data();
  } else if (info[0].IsTypedArray()) {
    const auto view = info[0].As<Napi::TypedArray>();
    // SharedArrayBuffers come as typed arrays only: N-API shows no address of theirs but through a view.
    void* data = nullptr;
    napi_get_typedarray_info(info.Env(), view, nullptr, nullptr, &data, nullptr, nullptr);
    address = data;
  } else {
    throw Napi::TypeError::New(info.Env(), "addressOf takes a typed array or an ArrayBuffer");
  }
  return Napi::Number::New(info.Env(), static_cast<double>(reinterpret_cast<uintptr_t>(address)));
}

}  // namespace dfccl::addon
