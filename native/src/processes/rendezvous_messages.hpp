#pragma once
// What the two sides of a rendezvous send each other, and how.
#include <sys/socket.h>
#include <sys/un.h>

#include <string>
#include <vector>

#include "os/descriptor.hpp"
#include "processes/rendezvous.hpp"

namespace dfccl::rendezvous {

Descriptor openSocket();
/// An abstract address: no file, so nothing is left behind.
socklen_t addressOf(const std::string& job, sockaddr_un& address);
bool isOwnUser(int connection);

Answer answerOf(Answer::Kind kind, dfcclResult_t status = dfcclSuccess, const std::string& text = {},
                const std::vector<uint32_t>& ranks = {});
/// Sends one message, with a descriptor if it is not negative. Losing it is no error: the other end is gone then.
void sendAnswer(int connection, const Answer& answer, int descriptor = -1);
void sendHello(int connection, const RendezvousOptions& options);
/// @return bytes of the message, 0 at the end, -1 if there is none now.
ssize_t receiveAnswer(int connection, Answer& answer, Descriptor& descriptor);
bool isAnswer(ssize_t received, const Answer& answer);
/// @throws Error as the first rank says, where it refuses.
void checkRefused(Answer& answer);

/// The side of the first rank, which makes the memory. As meet().
std::shared_ptr<Segment> host(const RendezvousOptions& options);

}  // namespace dfccl::rendezvous
