#include "network/hello.hpp"

#include <unistd.h>

#include <cstring>

#include "network/message.hpp"
#include "processes/rank_set.hpp"

namespace dfccl::host_rendezvous {

Greeting sayHello(ByteStream& stream, std::optional<FrameChannel>& channel, const RendezvousOptions& options,
                  const std::string& secret, const Digest& random) {
  Opening theirs;
  if (stream.waiting().size() < sizeof theirs) return Greeting::waiting;
  std::memcpy(&theirs, stream.waiting().data(), sizeof theirs);
  if (std::memcmp(theirs.magic, kMagic, sizeof kMagic) != 0) return Greeting::stranger;
  stream.drop(sizeof theirs);
  Opening opening{};
  std::memcpy(opening.magic, kMagic, sizeof kMagic);
  opening.random = random;
  stream.put(bytesOfObject(opening));
  channel.emplace(stream, FrameChannel::Side::guest, keyOf(secret, theirs.random, opening.random));
  Hello hello{};
  hello.shape = options.shape;
  hello.rank = options.rank;
  hello.pid = static_cast<uint32_t>(getpid());
  options.job.copy(hello.job, sizeof hello.job - 1);
  channel->send(Kind::hello, bytesOfObject(hello));
  return Greeting::said;
}

void throwRefusal(const Frame& frame) {
  MessageReader message(frame.contents);
  const auto status = static_cast<dfcclResult_t>(message.get<int32_t>());
  const std::string text = message.getText();
  rendezvous::throwRefused(status, text, message.get<RankSet>().list());
}

}  // namespace dfccl::host_rendezvous
