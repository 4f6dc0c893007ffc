#include "nccl_api/universe/real_nccl.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>

#include "base/atomics.hpp"
#include "entry_points.hpp"
#include "os/descriptor.hpp"

namespace dfccl::nccl {
namespace {

constexpr const char* kRemedy = "Let DFCCL_REAL_NCCL be the path of NVIDIA's libnccl.so.2.";

const char* named() {
  const char* const said = std::getenv("DFCCL_REAL_NCCL");
  return said == nullptr || *said == '\0' ? nullptr : said;
}

Atomic<RealNccl*> kept;

void* openDeeply(const std::string& path) {
  // Its own calls of its functions, which this library has too, are to stay in it.
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND | RTLD_NODELETE);
  if (library != nullptr) return library;
  throw Failure(ncclSystemError, std::string("The other NCCL can't be opened: ") + dlerror() + ".", kRemedy);
}

/// Of a file, in memory. It goes with the last mapping of it.
void* openCopy(const std::string& path) {
  const Descriptor from(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const Descriptor copy(memfd_create("libnccl.so.2", MFD_CLOEXEC));
  ssize_t copied = from.get() < 0 || copy.get() < 0 ? -1 : 1;
  while (copied > 0) copied = sendfile(copy.get(), from.get(), nullptr, size_t{1} << 30);
  if (copied < 0) {
    throw Failure(ncclSystemError, std::string("The other NCCL can't be copied: ") + std::strerror(errno) + ".",
                  kRemedy);
  }
  return openDeeply("/proc/self/fd/" + std::to_string(copy.get()));
}

/// With calls of its own functions that stay in it. Where the program has it loaded already, beside this library that
/// came first, they lead here, and the loader knows a file again by whatever name.
void* openApart(const std::string& path) {
  void* const there = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (there == nullptr) return openDeeply(path);
  const bool isSelf = dlsym(there, "ncclGetVersion") == reinterpret_cast<void*>(&ncclGetVersion);
  dlclose(there);
  return isSelf ? openDeeply(path) : openCopy(path);
}

}  // namespace

bool RealNccl::isNamed() { return named() != nullptr; }

bool RealNccl::isForAll() {
  const char* const said = std::getenv("DFCCL_REAL_NCCL_FOR");
  if (said == nullptr || *said == '\0') return false;
  if (std::strcmp(said, "all") != 0) {
    throw Failure(ncclInvalidUsage, std::string("DFCCL_REAL_NCCL_FOR is ") + said + ".",
                  "Allowed: all, or leave it out.");
  }
  if (!isNamed()) throw Failure(ncclInvalidUsage, "DFCCL_REAL_NCCL_FOR is set, and no library is named.", kRemedy);
  return true;
}

RealNccl& RealNccl::open() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (RealNccl* const there = opened()) return *there;
  const char* const path = named();
  if (path == nullptr) throw Failure(ncclInvalidUsage, "No other NCCL is named.", kRemedy);
  // A name without a folder would be found among the libraries that are loaded, and this one has it.
  const char* const slash = std::strrchr(path, '/');
  if (slash == nullptr) {
    throw Failure(ncclInvalidUsage, std::string("DFCCL_REAL_NCCL is ") + path + ", which has no folder in it.",
                  kRemedy);
  }
  // In other letters than a program's: where the loader was told to give this library to who asks for that path, it has
  // noted the path as one of this library's names (audit/objects.cpp).
  const std::string spelled = std::string(path, slash) + "/." + slash;
  void* const library = openApart(spelled);
  if (dlsym(library, "ncclGetVersion") == reinterpret_cast<void*>(&ncclGetVersion)) {
    throw Failure(ncclInvalidUsage, std::string("DFCCL_REAL_NCCL is ") + path + ", which is this library itself.",
                  kRemedy);
  }
  kept.store(new RealNccl(path, library), order::release);  // for as long as the process is there
  return *opened();
}

RealNccl* RealNccl::opened() { return kept.load(order::acquire); }

void* RealNccl::find(const char* name) const {
  void* const found = dlsym(library_, name);
  if (found == nullptr) {
    throw Failure(ncclInvalidUsage, "The communicator is of " + path_ + ", which has no " + name + ".",
                  "Name a newer NCCL by DFCCL_REAL_NCCL, or leave that call out.");
  }
  return found;
}

ncclResult_t RealNccl::check(ncclResult_t result) const {
  if (result == ncclSuccess || result == ncclInProgress) return result;
  const char* const said = call<decltype(ncclGetLastError)>("ncclGetLastError", nullptr);
  const std::string what =
      said == nullptr || *said == '\0' ? " returned " + std::to_string(result) + "." : std::string(" says: ") + said;
  throw Failure(result, path_ + what, "Look at what NCCL prints with NCCL_DEBUG=INFO.");
}

}  // namespace dfccl::nccl
