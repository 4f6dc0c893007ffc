#include <cstring>

#include "base/error.hpp"
#include "network/transport.hpp"

#if !defined(DFCCL_WITH_UCX)

namespace dfccl {

std::string describeTransport() {
  throw Error(dfcclUnavailable, "Worlds on several machines need UCX, and this library was built without it.",
              "Install UCX's headers (apt-get install libucx-dev, or dnf install ucx-devel) and build again.",
              {{"library", "ucp/api/ucp.h"}});
}

std::unique_ptr<Transport> openUcxTransport() {
  (void)describeTransport();
  return nullptr;
}

}  // namespace dfccl

#else

#include <list>

#include "network/ucx_library.hpp"

namespace dfccl {
namespace {

constexpr unsigned kMessage = 1;  // the one kind of active message

class UcxTransport final : public Transport {
 public:
  UcxTransport() : ucx_(UcxLibrary::get()) {
    ucp_config_t* config = nullptr;
    check(ucx_.readConfig(nullptr, nullptr, &config), "read its settings");
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED;
    params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
    params.mt_workers_shared = 0;
    const ucs_status_t status = ucx_.init(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &context_);
    ucx_.releaseConfig(config);
    check(status, "start");
    ucp_worker_params_t worker{};
    worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    worker.thread_mode = UCS_THREAD_MODE_SERIALIZED;
    check(ucx_.createWorker(context_, &worker, &worker_), "make a worker");
    check(ucx_.descriptor(worker_, &descriptor_), "be waited for");
    ucp_am_handler_param_t handler{};
    handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                         UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
    handler.id = kMessage;
    handler.flags = UCP_AM_FLAG_WHOLE_MSG;
    handler.cb = onReceived;
    handler.arg = this;
    check(ucx_.setHandler(worker_, &handler), "receive messages");
  }
  ~UcxTransport() override {
    close();
    if (worker_ != nullptr) ucx_.destroyWorker(worker_);
    if (context_ != nullptr) ucx_.cleanup(context_);
  }

  std::vector<uint8_t> address() override {
    ucp_address_t* own = nullptr;
    size_t bytes = 0;
    check(ucx_.address(worker_, &own, &bytes), "tell its address");
    const auto* from = reinterpret_cast<const uint8_t*>(own);
    std::vector<uint8_t> copy(from, from + bytes);
    ucx_.releaseAddress(worker_, own);
    return copy;
  }

  void connect(const std::vector<std::vector<uint8_t>>& addresses, Events& events) override {
    events_ = &events;
    for (uint32_t rank = 0; rank < addresses.size(); ++rank) {
      Peer& peer = peers_.emplace_back(Peer{this, rank, nullptr, false});
      if (addresses[rank].empty()) continue;
      ucp_ep_params_t params{};
      params.field_mask =
          UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
      params.address = reinterpret_cast<const ucp_address_t*>(addresses[rank].data());
      params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
      params.err_handler = {onError, &peer};
      check(ucx_.createEndpoint(worker_, &params, &peer.endpoint), "reach rank " + std::to_string(rank));
    }
    for (Peer& peer : peers_) byRank_.push_back(&peer);
  }

  void send(uint32_t rank, std::span<const uint8_t> header, std::span<const uint8_t> payload,
            uint64_t cookie) override {
    Peer& peer = *byRank_[rank];
    if (peer.endpoint == nullptr || peer.isLost) return events_->sent(cookie);
    Message* const message = take();
    message->cookie = cookie;
    std::memcpy(message->header, header.data(), header.size());
    ucp_request_param_t params{};
    // Whole at once: what comes has room where it goes, so nothing would be gained by asking first.
    params.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS |
                          UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    // Else a UCX with CUDA asks its driver what lies there, whose lock another thread may have until the device is
    // idle.
    params.memory_type = UCS_MEMORY_TYPE_HOST;
    params.flags = UCP_AM_SEND_FLAG_EAGER;
    params.cb.send = onSent;
    params.user_data = message;
    const ucs_status_ptr_t request =
        ucx_.send(peer.endpoint, kMessage, message->header, header.size(), payload.data(), payload.size(), &params);
    if (UCS_PTR_IS_PTR(request)) return;
    finish(message);
    if (UCS_PTR_IS_ERR(request)) peer.lose(UCS_PTR_STATUS(request));
  }

  bool progress() override { return ucx_.progress(worker_) != 0; }
  int descriptor() const override { return descriptor_; }
  bool arm() override { return ucx_.arm(worker_) == UCS_OK; }

  void close() override {
    events_ = nullptr;
    std::vector<void*> closing;
    for (Peer& peer : peers_) {
      if (peer.endpoint == nullptr) continue;
      peer.isLost = true;
      ucp_request_param_t params{};
      params.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
      params.flags = UCP_EP_CLOSE_FLAG_FORCE;
      const ucs_status_ptr_t request = ucx_.closeEndpoint(peer.endpoint, &params);
      peer.endpoint = nullptr;
      if (UCS_PTR_IS_PTR(request)) closing.push_back(request);
    }
    for (void* request : closing) {
      // Closing by force needs nobody else's answer.
      while (ucx_.statusOf(request) == UCS_INPROGRESS) ucx_.progress(worker_);
      ucx_.freeRequest(request);
    }
  }

 private:
  struct Message {
    UcxTransport* transport;
    uint64_t cookie;
    uint8_t header[kMostHeaderBytes];  // UCX reads it until the message is sent
    Message* next;
  };
  struct Peer {
    UcxTransport* transport;
    uint32_t rank;
    ucp_ep_h endpoint;
    bool isLost;

    void lose(ucs_status_t status) {
      if (isLost || transport->events_ == nullptr) return;
      isLost = true;
      transport->events_->lost(rank, transport->ucx_.describe(status));
    }
  };

  void check(ucs_status_t status, const std::string& what) {
    if (status == UCS_OK) return;
    throw Error(dfcclUnavailable, "UCX can't " + what + ": " + ucx_.describe(status) + ".",
                "See what devices it finds (ucx_info -d) and what UCX_TLS and UCX_NET_DEVICES are set to.",
                {{"status", std::to_string(status)}});
  }

  Message* take() {
    if (free_ == nullptr) {
      messages_.emplace_back();
      messages_.back().transport = this;
      return &messages_.back();
    }
    return std::exchange(free_, free_->next);
  }
  void finish(Message* message) {
    const uint64_t cookie = message->cookie;
    message->next = std::exchange(free_, message);
    if (events_ != nullptr) events_->sent(cookie);
  }

  static void onSent(void* request, ucs_status_t, void* message) {
    auto* const m = static_cast<Message*>(message);
    UcxTransport* const self = m->transport;
    self->ucx_.freeRequest(request);
    self->finish(m);
  }
  static void onError(void* peer, ucp_ep_h, ucs_status_t status) { static_cast<Peer*>(peer)->lose(status); }
  static ucs_status_t onReceived(void* self, const void* header, size_t headerBytes, void* data, size_t bytes,
                                 const ucp_am_recv_param_t* param) {
    auto* const transport = static_cast<UcxTransport*>(self);
    // Of strangers only; what we send comes with its contents.
    if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0 || transport->events_ == nullptr) return UCS_OK;
    transport->events_->received({static_cast<const uint8_t*>(header), headerBytes},
                                 {static_cast<const uint8_t*>(data), bytes});
    return UCS_OK;
  }

  const UcxLibrary& ucx_;
  Events* events_ = nullptr;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  int descriptor_ = -1;
  std::list<Peer> peers_;
  std::vector<Peer*> byRank_;
  std::list<Message> messages_;
  Message* free_ = nullptr;
};

}  // namespace

std::string describeTransport() { return std::string("UCX ") + UcxLibrary::get().version(); }

std::unique_ptr<Transport> openUcxTransport() { return std::make_unique<UcxTransport>(); }

}  // namespace dfccl

#endif
