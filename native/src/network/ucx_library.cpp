#if defined(DFCCL_WITH_UCX)
#include "network/ucx_library.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "base/error.hpp"

namespace dfccl {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error(dfcclUnavailable, "Worlds on several machines need UCX, and " + what + ".",
              "Install it: apt-get install libucx0, or dnf install ucx.", {{"library", "libucp.so.0"}});
}

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) refuse(std::string("its library has no ") + name + " (1.13 or newer has)");
}

UcxLibrary load() {
  // The program's signal handlers and its memory functions are its own; UCX would replace both as it is loaded.
  setenv("UCX_HANDLE_ERRORS", "none", 0);
  setenv("UCX_ERROR_SIGNALS", "", 0);
  setenv("UCX_MEM_EVENTS", "no", 0);
  setenv("UCX_WARN_UNUSED_ENV_VARS", "n", 0);
  // UCX 1.13 ends the process (an assertion on what is complete) when a TCP connection breaks in the middle of a
  // message that it sends without a copy, as it does when the other process is killed.
  setenv("UCX_ZCOPY_THRESH", "inf", 0);
  // Over TCP a message goes in pieces of this size, each with calls of its own: the largest of ours is one piece, where
  // 8 KiB of UCX's own took three times as long. Both or none: UCX takes no sender's that is above the receiver's.
  if (std::getenv("UCX_TCP_TX_SEG_SIZE") == nullptr && std::getenv("UCX_TCP_RX_SEG_SIZE") == nullptr) {
    setenv("UCX_TCP_TX_SEG_SIZE", "264k", 0);
    setenv("UCX_TCP_RX_SEG_SIZE", "264k", 0);
  }
  // What goes wrong is told by the world, in its own words.
  setenv("UCX_LOG_LEVEL", "fatal", 0);
  void* const ucp = dlopen("libucp.so.0", RTLD_NOW | RTLD_LOCAL);
  if (ucp == nullptr) refuse(std::string("it can't be loaded: ") + dlerror());
  void* const ucs = dlopen("libucs.so.0", RTLD_NOW | RTLD_LOCAL);
  if (ucs == nullptr) refuse(std::string("it can't be loaded: ") + dlerror());
  UcxLibrary library{};
  find(ucp, "ucp_init_version", library.init);
  find(ucp, "ucp_cleanup", library.cleanup);
  find(ucp, "ucp_config_read", library.readConfig);
  find(ucp, "ucp_config_release", library.releaseConfig);
  find(ucp, "ucp_worker_create", library.createWorker);
  find(ucp, "ucp_worker_destroy", library.destroyWorker);
  find(ucp, "ucp_worker_get_address", library.address);
  find(ucp, "ucp_worker_release_address", library.releaseAddress);
  find(ucp, "ucp_worker_set_am_recv_handler", library.setHandler);
  find(ucp, "ucp_worker_progress", library.progress);
  find(ucp, "ucp_worker_get_efd", library.descriptor);
  find(ucp, "ucp_worker_arm", library.arm);
  find(ucp, "ucp_ep_create", library.createEndpoint);
  find(ucp, "ucp_ep_close_nbx", library.closeEndpoint);
  find(ucp, "ucp_am_send_nbx", library.send);
  find(ucp, "ucp_request_check_status", library.statusOf);
  find(ucp, "ucp_request_free", library.freeRequest);
  find(ucp, "ucp_get_version_string", library.version);
  find(ucs, "ucs_status_string", library.describe);
  return library;
}

}  // namespace

const UcxLibrary& UcxLibrary::get() {
  static const UcxLibrary library = load();
  return library;
}

}  // namespace dfccl
#endif
