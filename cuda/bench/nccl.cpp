#include "bench/nccl.hpp"

#include <dlfcn.h>

#include "host/check.hpp"

namespace dfccl::gpu::bench {
namespace {

constexpr int kFloat32 = 7;
constexpr int kSum = 0;

template <class Function>
void load(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) {
    throw Error(dfcclSystemError, std::string("NCCL has no ") + name + ".", "Use NCCL 2.4 or later.");
  }
}

}  // namespace

Nccl::Nccl(const std::string& path, const std::vector<int>& devices) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error(dfcclSystemError, std::string("NCCL can't be loaded: ") + dlerror() + ".",
                "Pass --nccl with the path of libnccl.so.2.");
  }
  int (*initialize)(Communicator*, int, const int*) = nullptr;
  int (*version)(int*) = nullptr;
  load(library, "ncclCommInitAll", initialize);
  load(library, "ncclGetVersion", version);
  load(library, "ncclAllReduce", allReduce_);
  load(library, "ncclGroupStart", groupStart_);
  load(library, "ncclGroupEnd", groupEnd_);
  load(library, "ncclGetErrorString", errorString_);
  check(version(&version_), "ncclGetVersion");
  communicators_.resize(devices.size());
  check(initialize(communicators_.data(), static_cast<int>(devices.size()), devices.data()), "ncclCommInitAll");
  for (const int device : devices) {
    const OnDevice here(device);
    streams_.emplace_back();
    DFCCL_CUDA(cudaStreamCreateWithFlags(&streams_.back(), cudaStreamNonBlocking));
  }
}

void Nccl::allReduce(uint32_t rank, const void* send, void* recv, size_t count, cudaStream_t stream) {
  check(allReduce_(send, recv, count, kFloat32, kSum, communicators_[rank], stream ? stream : streams_[rank]),
        "ncclAllReduce");
}
void Nccl::groupStart() { check(groupStart_(), "ncclGroupStart"); }
void Nccl::groupEnd() { check(groupEnd_(), "ncclGroupEnd"); }

void Nccl::check(int result, const char* call) const {
  if (result == 0) return;
  throw Error(dfcclSystemError, std::string(call) + ": " + errorString_(result) + ".", "See NCCL_DEBUG=INFO.");
}

}  // namespace dfccl::gpu::bench
