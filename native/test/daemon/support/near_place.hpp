#pragma once
#include <algorithm>
#include <vector>

#include "daemon/state/records.hpp"

namespace dfccl::test {

/// The constant part of a collective in a nearer memory, as on a GPU, with a single place for all: whoever keeps a
/// pointer into it finds another collective's tables there.
class NearPlace {
 public:
  static const CollectiveRecord* bring(const CollectiveRecord& record) {
    NearPlace& place = instance();
    const MeetingPlaces& far = *record.places;
    std::fill(place.landings_.begin(), place.landings_.end(), nullptr);
    std::fill(place.scales_.begin(), place.scales_.end(), 0.0);
    std::copy_n(far.landings, far.landings == nullptr ? 0 : far.members, place.landings_.begin());
    std::copy_n(far.scales, far.scales == nullptr ? 0 : far.members, place.scales_.begin());
    place.places_ = far;
    place.places_.landings = place.landings_.data();
    place.places_.scales = place.scales_.data();
    place.record_ = record;
    place.record_.places = &place.places_;
    return &place.record_;
  }

 private:
  static constexpr size_t kMostMembers = 64;
  static NearPlace& instance() {
    static NearPlace place;
    return place;
  }

  CollectiveRecord record_{};
  MeetingPlaces places_{};
  std::vector<uint8_t*> landings_ = std::vector<uint8_t*>(kMostMembers);
  std::vector<double> scales_ = std::vector<double>(kMostMembers);
};

}  // namespace dfccl::test
