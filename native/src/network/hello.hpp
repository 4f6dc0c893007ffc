#pragma once
// What a process says first to whoever listens at a job's meeting point: that it belongs to the job, and which rank it
// claims.
#include <optional>

#include "network/frame_channel.hpp"
#include "network/host_rendezvous.hpp"

namespace dfccl::host_rendezvous {

enum class Greeting : uint8_t {
  waiting,   // what the listener opens with has not come yet
  said,      // the hello is on its way
  stranger,  // what answers is not rank 0 of any job
};

/// Once the listener's opening is there, answers with `random` and the hello of `options.rank`.
/// @param channel is made then, and refers to `stream`.
Greeting sayHello(ByteStream& stream, std::optional<FrameChannel>& channel, const RendezvousOptions& options,
                  const std::string& secret, const Digest& random);

/// What a frame of Kind::refused says. @throws Error
[[noreturn]] void throwRefusal(const Frame& frame);

}  // namespace dfccl::host_rendezvous
