// When the library is loaded, it asks CUDA for as many hardware queues as there can be: a stream that waits keeps all
// others of its queue waiting, and CUDA puts all streams of a device into 8 unless it is told otherwise before its
// first call (docs/gpus.md). Who has set the variable keeps what he set.
#include <dlfcn.h>

#include <cstdlib>

namespace {

constexpr const char* kVariable = "CUDA_DEVICE_MAX_CONNECTIONS";
constexpr const char* kMost = "32";

/// Whether CUDA has read the variable already.
bool hasBegun() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr) return false;
  constexpr int kNotInitialized = 3;  // CUDA_ERROR_NOT_INITIALIZED
  const auto countDevices = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  int count = 0;
  const bool begun = countDevices != nullptr && countDevices(&count) != kNotInitialized;
  dlclose(driver);
  return begun;
}

[[gnu::constructor]] void askForHardwareQueues() {
  if (std::getenv(kVariable) == nullptr && !hasBegun()) setenv(kVariable, kMost, 0);
}

}  // namespace
