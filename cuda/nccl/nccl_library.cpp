#include "nccl/nccl_library.hpp"

#include <dlfcn.h>

#include <cstdlib>

#include "base/error.hpp"

namespace dfccl::gpu {
namespace {

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

template <class Function>
void load(void* library, const char* name, Function& function) {
  if (find(library, name, function)) return;
  throw Error(dfcclUnavailable, std::string("NCCL has no ") + name + ".", "Use NCCL 2.11 or later.");
}

}  // namespace

int ncclTypeOf(DataType type) {
  switch (type) {
    case DataType::int8:
      return 0;
    case DataType::uint8:
      return 1;
    case DataType::int32:
      return 2;
    case DataType::uint32:
      return 3;
    case DataType::int64:
      return 4;
    case DataType::uint64:
      return 5;
    case DataType::float16:
      return 6;
    case DataType::float32:
      return 7;
    case DataType::float64:
      return 8;
    case DataType::bfloat16:
      return 9;
    case DataType::float8e4m3:
      return 10;
    case DataType::float8e5m2:
      break;
  }
  return 11;
}

int ncclOpOf(ReduceOp op) {
  switch (op) {
    case ReduceOp::prod:
      return 1;
    case ReduceOp::max:
      return 2;
    case ReduceOp::min:
      return 3;
    case ReduceOp::avg:
      return 4;
    case ReduceOp::sum:
    case ReduceOp::scaledSum:
    case ReduceOp::bitAnd:
    case ReduceOp::bitOr:
    case ReduceOp::bitXor:
      break;
  }
  return 0;
}

NcclLibrary::NcclLibrary(const std::string& path) {
  setenv("NCCL_NVLS_ENABLE", "0", 0);
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    throw Error(dfcclUnavailable, std::string("NCCL can't be loaded: ") + (why ? why : path.c_str()) + ".",
                "Install it (libnccl2), or set NCCL_LIBRARY to the path of its libnccl.so.2.", {{"library", path}});
  }
  int (*getVersion)(int*) = nullptr;
  load(library, "ncclGetErrorString", errorString_);
  load(library, "ncclGetVersion", getVersion);
  load(library, "ncclGetUniqueId", makeUniqueId);
  load(library, "ncclCommInitRank", initializeRank);
  load(library, "ncclCommAbort", abort);
  load(library, "ncclCommGetAsyncError", asyncError);
  load(library, "ncclGroupStart", groupStart);
  load(library, "ncclGroupEnd", groupEnd);
  load(library, "ncclAllReduce", allReduce);
  load(library, "ncclReduceScatter", reduceScatter);
  load(library, "ncclAllGather", allGather);
  load(library, "ncclBroadcast", broadcast);
  load(library, "ncclReduce", reduce);
  load(library, "ncclSend", send);
  load(library, "ncclRecv", receive);
  load(library, "ncclRedOpCreatePreMulSum", createScaledSum);
  load(library, "ncclRedOpDestroy", destroyOp);
  find(library, "ncclAlltoAll", allToAll);
  find(library, "ncclGather", gather);
  find(library, "ncclScatter", scatter);
  check(getVersion(&version), "ncclGetVersion");
}

void NcclLibrary::check(int result, const char* call) const {
  if (result == 0) return;
  throw Error(dfcclSystemError, std::string(call) + ": " + errorString_(result) + ".", "Run it with NCCL_DEBUG=INFO.",
              {{"call", call}});
}

std::string NcclLibrary::versionText() const {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

}  // namespace dfccl::gpu
