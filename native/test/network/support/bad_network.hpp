#pragma once
// Machines of a test whose network delays, drops and reorders: each has a device that hands its packets to a relay of
// the test's own, which passes them on as it pleases. (netem does this in the kernel, where the kernel has it.)
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <chrono>
#include <cstring>
#include <queue>
#include <random>

#include "network/support/namespaces.hpp"

namespace dfccl::test {

struct BadWeather {
  std::chrono::milliseconds delay{20};
  double loss = 0.01;
  double late = 0.05;  // packets that others overtake
  std::chrono::milliseconds later{8};
};

class BadNetwork {
 public:
  BadNetwork(uint32_t count, const BadWeather& weather) : machines_(count) {
    isThere_ = true;
    for (uint32_t i = 0; i < count && isThere_; ++i) isThere_ = machines_[i].isThere() && attach(i);
    if (!isThere_) return;
    relay_ = fork();
    if (relay_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    relay(weather);
  }
  ~BadNetwork() {
    if (relay_ <= 0) return;
    kill(relay_, SIGKILL);
    waitpid(relay_, nullptr, 0);
  }
  BadNetwork(const BadNetwork&) = delete;
  BadNetwork& operator=(const BadNetwork&) = delete;

  bool areThere() const { return isThere_; }
  bool enter(uint32_t machine) const { return machines_[machine].enter(); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Packet {
    Clock::time_point due;
    uint64_t number;
    uint32_t to;
    std::vector<uint8_t> bytes;
    bool operator<(const Packet& other) const {
      return due != other.due ? due > other.due : number > other.number;  // the next one on top
    }
  };

  bool attach(uint32_t i) {
    const NetworkNamespace& m = machines_[i];
    // The device belongs to the namespace in which it is opened.
    const Descriptor home(open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
    const Descriptor away(open(("/proc/" + std::to_string(m.holder()) + "/ns/net").c_str(), O_RDONLY | O_CLOEXEC));
    if (home.get() < 0 || setns(away.get(), CLONE_NEWNET) != 0) return false;
    Descriptor device(open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK));
    ifreq request{};
    std::strcpy(request.ifr_name, "eth0");
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    const bool isMade = device.get() >= 0 && ioctl(device.get(), TUNSETIFF, &request) == 0;
    if (setns(home.get(), CLONE_NEWNET) != 0) std::abort();
    devices_.push_back(std::move(device));
    return isMade && m.run("ip link set lo up") && m.run("ip addr add " + Machines::addressOf(i) + "/24 dev eth0") &&
           m.run("ip link set eth0 up");
  }

  [[noreturn]] void relay(const BadWeather& weather) {
    std::mt19937 random(std::random_device{}());
    std::uniform_real_distribution<double> chance(0, 1);
    std::priority_queue<Packet> underWay;
    std::vector<pollfd> polled;
    for (const Descriptor& device : devices_) polled.push_back({device.get(), POLLIN, 0});
    uint64_t number = 0;
    std::vector<uint8_t> buffer(65'536);
    for (;;) {
      int millis = -1;
      if (!underWay.empty()) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(underWay.top().due - Clock::now()).count();
        millis = static_cast<int>(std::max<int64_t>(0, left));
      }
      poll(polled.data(), polled.size(), millis);
      for (size_t i = 0; i < polled.size(); ++i) {
        for (ssize_t got; (got = read(devices_[i].get(), buffer.data(), buffer.size())) > 0;) {
          // IPv4, whose destination's last byte names the machine.
          const uint32_t to = got >= 20 && buffer[0] >> 4 == 4 ? buffer[19] - 1u : ~0u;
          if (to >= devices_.size() || chance(random) < weather.loss) continue;
          auto due = Clock::now() + weather.delay;
          if (chance(random) < weather.late) due += weather.later;
          underWay.push({due, number++, to, {buffer.begin(), buffer.begin() + got}});
        }
      }
      for (; !underWay.empty() && underWay.top().due <= Clock::now(); underWay.pop()) {
        const Packet& packet = underWay.top();
        (void)!write(devices_[packet.to].get(), packet.bytes.data(), packet.bytes.size());
      }
    }
  }

  std::vector<NetworkNamespace> machines_;
  std::vector<Descriptor> devices_;
  pid_t relay_ = 0;
  bool isThere_ = false;
};

}  // namespace dfccl::test
