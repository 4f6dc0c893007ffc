#pragma once
// UCX's libucp, loaded when a world first needs it: a program that stays on one machine does without.
#include <ucp/api/ucp.h>

namespace dfccl {

struct UcxLibrary {
  decltype(&ucp_init_version) init;
  decltype(&ucp_cleanup) cleanup;
  decltype(&ucp_config_read) readConfig;
  decltype(&ucp_config_release) releaseConfig;
  decltype(&ucp_worker_create) createWorker;
  decltype(&ucp_worker_destroy) destroyWorker;
  decltype(&ucp_worker_get_address) address;
  decltype(&ucp_worker_release_address) releaseAddress;
  decltype(&ucp_worker_set_am_recv_handler) setHandler;
  decltype(&ucp_worker_progress) progress;
  decltype(&ucp_worker_get_efd) descriptor;
  decltype(&ucp_worker_arm) arm;
  decltype(&ucp_ep_create) createEndpoint;
  decltype(&ucp_ep_close_nbx) closeEndpoint;
  decltype(&ucp_am_send_nbx) send;
  decltype(&ucp_request_check_status) statusOf;
  decltype(&ucp_request_free) freeRequest;
  decltype(&ucp_get_version_string) version;
  const char* (*describe)(ucs_status_t);

  /// @throws Error dfcclUnavailable
  static const UcxLibrary& get();
};

}  // namespace dfccl
