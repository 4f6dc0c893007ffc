#pragma once
// By which addresses other machines may reach this one.
#include <string_view>
#include <vector>

#include "nccl_api/universe/name.hpp"

namespace dfccl::nccl {

/// Whether an interface may be used, as NCCL_SOCKET_IFNAME has it: beginnings of names, with a "^" before the first
/// one those of which it may not be, with a "=" whole names. Empty: any but the loopback
/// and those of Docker, which are the same on many machines.
bool isAllowed(std::string_view interface, std::string_view said);

/// Of the interfaces that are up and allowed, IPv4 before IPv6; the loopback's where there is no other.
std::vector<Reach::Address> ownAddresses();

}  // namespace dfccl::nccl
