#include "allocate.hpp"

#include <sys/mman.h>

#include "error_conversion.hpp"

namespace dfccl::addon {

Napi::Value allocate(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const double asked = info.Length() > 0 && info[0].IsNumber() ? info[0].As<Napi::Number>().DoubleValue() : -1;
    if (!(asked >= 0 && asked <= 9007199254740991.0)) {
      throw Error(dfcclInvalidArgument, "The number of bytes is not a whole number.", "Pass 0 or more.",
                  {{"field", "bytes"}});
    }
    const auto bytes = static_cast<size_t>(asked);
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
