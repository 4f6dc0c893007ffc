#include "network/links.hpp"

#include <algorithm>
#include <cstring>

#include "processes/peer_watch.hpp"

namespace dfccl {
namespace {

constexpr uint32_t kMagic = 0x32504644;  // "DFP2"
// Cookies of slots: how many, the end, and the low bits of the first one's position; no two in flight at an end are so
// far apart.
constexpr uint64_t kIsKept = uint64_t{1} << 63;
constexpr uint64_t kPositionMask = (uint64_t{1} << Links::kPositionBits) - 1;
constexpr uint64_t kTagBits = 12, kCountBits = 8;
constexpr uint64_t kTagMask = (uint64_t{1} << kTagBits) - 1;
static_assert(Links::kMostSlots < uint64_t{1} << kCountBits);

uint64_t cookieOf(EndName own, SlotRange slots) {
  const uint64_t name = uint64_t{own.number} << kTagBits | (own.tag & kTagMask);
  return (name << kCountBits | slots.count) << Links::kPositionBits | (slots.first & kPositionMask);
}
constexpr size_t kMostEarlyNotes = 1 << 16;
constexpr uint32_t kShortestBeatMillis = 20;
constexpr uint32_t kLongestBeatMillis = 1000;

}  // namespace

Links::Links(Network& network, uint32_t rank, uint32_t muteMillis, Receiver& receiver)
    : network_(network),
      rank_(rank),
      muteMillis_(muteMillis),
      beatMillis_(std::clamp(muteMillis / 8, kShortestBeatMillis, kLongestBeatMillis)),
      receiver_(receiver) {
  const auto tokenOf = [&](uint32_t from, uint32_t to) {
    const Digest digest = hmac(network.key, {bytesOf("dfccl link 1"), bytesOfObject(from), bytesOfObject(to)});
    Token token;
    std::copy_n(digest.begin(), token.size(), token.begin());
    return token;
  };
  links_.resize(network.hostOf.size());
  for (uint32_t r = 0; r < links_.size(); ++r) {
    if (network.hostOf[r] == network.hostOf[rank]) continue;
    links_[r] = std::make_unique<Link>();
    links_[r]->toThem = tokenOf(rank, r);
    links_[r]->toUs = tokenOf(r, rank);
    links_[r]->lastHeardMillis = nowMillis();
    peers_.push_back(r);
  }
  network.transport->connect(network.addresses, *this);
}

Links::~Links() { network_.transport->close(); }

Links::Header Links::headerFor(const Link& link, Kind kind) const {
  Header header{};
  header.magic = kMagic;
  header.kind = kind;
  header.from = rank_;
  header.token = link.toThem;
  return header;
}

void Links::sendSlots(uint32_t rank, EndName end, SlotRange slots, std::span<const uint8_t> payload, EndName own) {
  Link& link = *links_[rank];
  Header header = headerFor(link, Kind::slot);
  header.end = end;
  header.number = slots.first;
  header.slots = slots.count;
  link.slotsSent += slots.count;
  link.lastSentMillis = nowMillis();
  transport().send(rank, bytesOfObject(header), payload, cookieOf(own, slots));
}

void Links::sendCredit(uint32_t rank, EndName end, uint64_t freed) {
  if (isUp(rank)) links_[rank]->credits.push_back({end, freed});
}

void Links::sendNote(uint32_t rank, std::vector<uint8_t> note) {
  if (!isUp(rank)) return;
  sendKept(Kind::note, rank, links_[rank]->notesSent++, std::move(note));
}

void Links::sendKept(Kind kind, uint32_t rank, uint64_t number, std::vector<uint8_t> payload) {
  Link& link = *links_[rank];
  Header header = headerFor(link, kind);
  header.number = number;
  link.lastSentMillis = nowMillis();
  const uint64_t cookie = kIsKept | nextKept_++;
  const Kept& kept = kept_[cookie] = {kind, rank, std::move(payload)};
  transport().send(rank, bytesOfObject(header), kept.payload, cookie);
}

void Links::flush(uint64_t now) {
  for (const uint32_t rank : peers_) {
    Link& link = *links_[rank];
    if (!link.isUp) continue;
    // One of each under way at a time: what a slow link holds back stays bounded.
    if (!link.credits.empty() && !link.areCreditsUnderWay) {
      std::vector<uint8_t> payload(link.credits.size() * sizeof(Credit));
      std::memcpy(payload.data(), link.credits.data(), payload.size());
      link.credits.clear();
      link.areCreditsUnderWay = true;
      sendKept(Kind::credits, rank, 0, std::move(payload));
    } else if (now >= link.lastSentMillis + beatMillis_ && !link.isBeatUnderWay) {
      link.isBeatUnderWay = true;
      sendKept(Kind::beat, rank, 0, {});
    }
  }
}

void Links::judge(uint64_t now, bool isAwake) {
  for (const uint32_t rank : peers_) {
    Link& link = *links_[rank];
    if (!isAwake) link.lastHeardMillis = now;
    if (!link.isUp || now <= link.lastHeardMillis + muteMillis_) continue;
    link.isUp = false;
    receiver_.lostLink(rank, Presence::mute);
  }
}

void Links::received(std::span<const uint8_t> bytes, std::span<const uint8_t> payload) {
  Header header;
  if (bytes.size() != sizeof header) return;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != kMagic || header.from >= links_.size() || !links_[header.from]) return;
  Link& link = *links_[header.from];
  if (header.token != link.toUs) return;
  link.lastHeardMillis = nowMillis();
  switch (header.kind) {
    case Kind::slot:
      link.slotsReceived += header.slots;
      receiver_.receivedSlots(header.from, header.end, {header.number, header.slots}, payload);
      break;
    case Kind::credits:
      for (; payload.size() >= sizeof(Credit); payload = payload.subspan(sizeof(Credit))) {
        Credit credit;
        std::memcpy(&credit, payload.data(), sizeof credit);
        receiver_.receivedCredit(header.from, credit.end, credit.freed);
      }
      break;
    case Kind::note:
      takeNote(header.from, header.number, payload);
      break;
    default:
      break;
  }
}

void Links::takeNote(uint32_t from, uint64_t number, std::span<const uint8_t> payload) {
  Link& link = *links_[from];
  if (number < link.notesReceived) return;
  if (number != link.notesReceived) {
    // Nothing that follows a note which is dropped would ever be heard.
    if (link.earlyNotes.size() >= kMostEarlyNotes) return lost(from, "too many notes came before the one that is next");
    link.earlyNotes.emplace(number, std::vector<uint8_t>(payload.begin(), payload.end()));
    return;
  }
  ++link.notesReceived;
  receiver_.receivedNote(from, payload);
  for (auto next = link.earlyNotes.find(link.notesReceived); next != link.earlyNotes.end();
       next = link.earlyNotes.find(link.notesReceived)) {
    ++link.notesReceived;
    receiver_.receivedNote(from, next->second);
    link.earlyNotes.erase(next);
  }
}

void Links::sent(uint64_t cookie) {
  if ((cookie & kIsKept) == 0) {
    const uint64_t above = cookie >> kPositionBits, name = above >> kCountBits;
    const EndName own{static_cast<uint32_t>(name >> kTagBits), static_cast<uint32_t>(name & kTagMask)};
    const auto count = static_cast<uint32_t>(above & ((uint64_t{1} << kCountBits) - 1));
    return receiver_.sentSlots(own, {cookie & kPositionMask, count});
  }
  const auto kept = kept_.find(cookie);
  if (kept == kept_.end()) return;
  Link& link = *links_[kept->second.rank];
  if (kept->second.kind == Kind::credits) link.areCreditsUnderWay = false;
  if (kept->second.kind == Kind::beat) link.isBeatUnderWay = false;
  kept_.erase(kept);
}

void Links::lost(uint32_t rank, const std::string&) {
  Link& link = *links_[rank];
  if (!link.isUp) return;
  link.isUp = false;
  receiver_.lostLink(rank, Presence::died);
}

}  // namespace dfccl
