#pragma once
// Machines of a test: network namespaces without a name, each with a link of its own to a bridge. They belong to
// processes that end with the test, however it ends, and so do they.
//
//   machine 0: eth0 10.77.0.1 ---- port0 |
//   machine 1: eth0 10.77.0.2 ---- port1 | bridge, in a namespace of its own
//   ...
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "network/support/rendezvous_points.hpp"
#include "os/descriptor.hpp"

namespace dfccl::test {

/// A process that holds a network namespace of its own, until it or the test ends.
class NetworkNamespace {
 public:
  NetworkNamespace() {
    int ready[2];
    if (pipe2(ready, O_CLOEXEC) != 0) return;
    const Descriptor heard(ready[0]), said(ready[1]);
    holder_ = fork();
    if (holder_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      const char answer = unshare(CLONE_NEWNET) == 0 ? 'y' : 'n';
      (void)!write(said.get(), &answer, 1);
      for (;;) pause();
    }
    char answer = 'n';
    isThere_ = read(heard.get(), &answer, 1) == 1 && answer == 'y';
  }
  ~NetworkNamespace() {
    if (holder_ <= 0) return;
    kill(holder_, SIGKILL);
    waitpid(holder_, nullptr, 0);
  }
  NetworkNamespace(NetworkNamespace&& other) noexcept
      : holder_(std::exchange(other.holder_, 0)), isThere_(other.isThere_) {}
  NetworkNamespace& operator=(NetworkNamespace&&) = delete;

  bool isThere() const { return isThere_; }
  pid_t holder() const { return holder_; }

  /// Runs a command of iproute2 in it. @return whether it went well.
  bool run(const std::string& command) const {
    return std::system(("nsenter -t " + std::to_string(holder_) + " -n " + command + " >/dev/null 2>&1").c_str()) == 0;
  }

  /// This process goes on in it, with what /sys says of its devices. @return whether it could.
  bool enter() const {
    const Descriptor network(open(("/proc/" + std::to_string(holder_) + "/ns/net").c_str(), O_RDONLY | O_CLOEXEC));
    if (setns(network.get(), CLONE_NEWNET) != 0 || unshare(CLONE_NEWNS) != 0) return false;
    return mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           mount("sysfs", "/sys", "sysfs", 0, nullptr) == 0;
  }

 private:
  pid_t holder_ = 0;
  bool isThere_ = false;
};

class Machines {
 public:
  explicit Machines(uint32_t count) : machines_(count) {
    isThere_ = hub_.isThere() && hub_.run("ip link add bridge type bridge") && hub_.run("ip link set bridge up");
    for (uint32_t i = 0; i < count && isThere_; ++i) isThere_ = attach(i);
  }

  /// Whether this system lets the test make them.
  bool areThere() const { return isThere_; }
  bool enter(uint32_t machine) const { return machines_[machine].enter(); }
  static std::string addressOf(uint32_t machine) { return "10.77.0." + std::to_string(machine + 1); }

  /// Nothing reaches the machine any more, or from it, until it is plugged in again.
  bool unplug(uint32_t machine) const { return hub_.run("ip link set " + port(machine) + " down"); }
  bool plugIn(uint32_t machine) const { return hub_.run("ip link set " + port(machine) + " up"); }
  /// @param rate as tc names it, "1gbit": of what the machine sends and of what it is sent.
  bool shape(uint32_t machine, const std::string& rate) const {
    const std::string filter = " root tbf rate " + rate + " burst 256kb latency 50ms";
    return hub_.run("tc qdisc add dev " + port(machine) + filter) &&
           machines_[machine].run("tc qdisc add dev eth0" + filter);
  }

 private:
  static std::string port(uint32_t machine) { return "port" + std::to_string(machine); }
  bool attach(uint32_t i) {
    const NetworkNamespace& m = machines_[i];
    return m.isThere() &&
           hub_.run("ip link add " + port(i) + " type veth peer name eth0 netns " + std::to_string(m.holder())) &&
           hub_.run("ip link set " + port(i) + " master bridge up") && m.run("ip link set lo up") &&
           m.run("ip addr add " + addressOf(i) + "/24 dev eth0") && m.run("ip link set eth0 up");
  }

  NetworkNamespace hub_;
  std::vector<NetworkNamespace> machines_;
  bool isThere_ = false;
};

inline bool canMakeMachines() {
  if (!hasTransport()) return false;
  if (Machines(1).areThere()) return true;
  std::printf("skipped: this system lets the test make no network namespaces (it needs root, iproute2 and nsenter)\n");
  return false;
}

}  // namespace dfccl::test
