#pragma once
// What a rank tells the members of a collective on other machines when it registers.
#include <optional>
#include <span>
#include <vector>

#include "network/links.hpp"
#include "network/vote.hpp"
#include "world/collective_spec.hpp"

namespace dfccl {

/// A registration of an id by these ranks. The same ranks may register an id again and again; each rank counts how
/// often it has, so that all mean the same one.
struct RegistrationKey {
  CollectiveId id;
  uint32_t generation = 0;
  std::vector<uint32_t> ranks;

  auto operator<=>(const RegistrationKey&) const = default;
};

struct AnnouncedEnd {
  uint32_t rank;  // of the other end
  uint32_t channel;
  uint32_t isSend;
  EndName name;
};

struct Announcement {
  uint32_t from = 0;
  uint64_t coming = 0;  // how many this rank has made, of any collective
  uint64_t runs = 0;    // that it has had before, as it counts them
  uint32_t generation = 0;
  uint32_t index = 0;  // in its rank's tables
  CollectiveSpec spec;
  uint64_t digest = 0;
  std::vector<AnnouncedEnd> ends;

  RegistrationKey key() const { return {spec.id, generation, spec.ranks}; }
};

/// What else a note may say.
struct RegistrationNote {
  RegistrationKey key;
  uint64_t value = 0;
  uint64_t coming = 0;  // of the registration that it is about
};

enum class NoteKind : uint32_t {
  registered,  // Announcement
  poisoned,    // RegistrationNote; value: by which rank, above it what became of that rank, if it is gone
  present,     // RegistrationNote, about the receiver's coming: the sender is in the registration and knows of it
  away,        // RegistrationNote; value: runs finished. It comes back into the registration
  dropped,     // RegistrationNote; value: runs finished. It was away; when it comes back, it begins anew
  left,        // RegistrationNote; value: runs finished
  progress,    // RegistrationNote; value: runs submitted
  goodbye,     // slots that were sent over this link
  farewell,    // a goodbye was heard, and all those slots have come
  vote,        // Vote
};

std::vector<uint8_t> encode(const Announcement& announcement);
std::vector<uint8_t> encode(NoteKind kind, const RegistrationNote& note);
std::vector<uint8_t> encode(NoteKind kind, uint64_t value);
std::vector<uint8_t> encode(const Vote& vote);

struct Note {
  NoteKind kind{};
  Announcement announcement;
  RegistrationNote registration;
  Vote vote;
  uint64_t value = 0;
};
/// @return nothing where it is malformed.
std::optional<Note> decodeNote(std::span<const uint8_t> bytes, uint32_t from);

}  // namespace dfccl
