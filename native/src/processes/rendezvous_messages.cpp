#include "processes/rendezvous_messages.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/error.hpp"
#include "processes/segment_places.hpp"

namespace dfccl::rendezvous {

using namespace rendezvous;

std::string socketName(const std::string& job) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a: names that differ only beyond the address's end stay apart
  for (const char c : job) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  char tail[20];
  std::snprintf(tail, sizeof tail, "%016llx", static_cast<unsigned long long>(hash));
  return "dfccl-" + std::to_string(geteuid()) + "-" + job.substr(0, 60) + "-" + tail;
}

Descriptor openSocket() {
  Descriptor socket_(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket_.get() < 0) refuseSystem("A Unix socket can't be made");
  return socket_;
}

socklen_t addressOf(const std::string& job, sockaddr_un& address) {
  const std::string name = socketName(job);
  address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

bool isOwnUser(int connection) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

Answer answerOf(Answer::Kind kind, dfcclResult_t status, const std::string& text, const std::vector<uint32_t>& ranks) {
  Answer answer{};
  std::memcpy(answer.magic, kMagic, sizeof kMagic);
  answer.kind = kind;
  answer.status = status;
  std::memcpy(answer.text, text.data(), std::min(text.size(), sizeof answer.text - 1));
  answer.ranks = RankSet::of(ranks);
  return answer;
}

void sendAnswer(int connection, const Answer& answer, int descriptor) {
  iovec part{const_cast<Answer*>(&answer), sizeof answer};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  }
  (void)sendmsg(connection, &message, MSG_NOSIGNAL);
}

void sendHello(int connection, const RendezvousOptions& options) {
  Hello hello{};
  std::memcpy(hello.magic, kMagic, sizeof kMagic);
  hello.rank = options.rank;
  hello.pid = static_cast<uint32_t>(getpid());
  hello.shape = options.shape;
  hello.freePlaces = SegmentPlaces(options.job, Segment::bytesOf(options.shape)).freeHere();
  (void)send(connection, &hello, sizeof hello, MSG_NOSIGNAL);
}

ssize_t receiveAnswer(int connection, Answer& answer, Descriptor& descriptor) {
  iovec part{&answer, sizeof answer};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t received = recvmsg(connection, &message, MSG_CMSG_CLOEXEC);
  if (received < 0) return -1;
  for (cmsghdr* h = CMSG_FIRSTHDR(&message); h != nullptr; h = CMSG_NXTHDR(&message, h)) {
    if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS) continue;
    int number;
    std::memcpy(&number, CMSG_DATA(h), sizeof number);
    descriptor = Descriptor(number);
  }
  return received;
}

bool isAnswer(ssize_t received, const Answer& answer) {
  return received == sizeof answer && std::memcmp(answer.magic, kMagic, sizeof kMagic) == 0;
}

void checkRefused(Answer& answer) {
  if (answer.kind != Answer::refused) return;
  answer.text[sizeof answer.text - 1] = '\0';
  throwRefused(static_cast<dfcclResult_t>(answer.status), answer.text, answer.ranks.list());
}

}  // namespace dfccl::rendezvous
