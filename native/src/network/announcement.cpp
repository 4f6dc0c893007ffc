#include "network/announcement.hpp"

#include "network/message.hpp"

namespace dfccl {
namespace {

void putRanks(MessageWriter& message, const std::vector<uint32_t>& ranks) {
  message.put(static_cast<uint32_t>(ranks.size()));
  for (const uint32_t rank : ranks) message.put(rank);
}

std::vector<uint32_t> getRanks(MessageReader& message) {
  std::vector<uint32_t> ranks(message.getCount(sizeof(uint32_t)));
  for (uint32_t& rank : ranks) rank = message.get<uint32_t>();
  return ranks;
}

void putId(MessageWriter& message, const CollectiveId& id) { message.put(id.number).put(id.high).put(id.low); }

CollectiveId getId(MessageReader& message) {
  CollectiveId id;
  id.number = message.get<uint32_t>();
  id.high = message.get<uint64_t>();
  id.low = message.get<uint64_t>();
  return id;
}

}  // namespace

std::vector<uint8_t> encode(const Announcement& a) {
  MessageWriter message;
  message.put(NoteKind::registered).put(a.coming).put(a.runs).put(a.generation).put(a.index).put(a.digest);
  putId(message, a.spec.id);
  message.put(a.spec.collective).put(a.spec.type).put(a.spec.op).put(a.spec.count).put(a.spec.root);
  message.put(a.spec.signature.purpose).put(a.spec.signature.tag);
  putRanks(message, a.spec.ranks);
  message.put(static_cast<uint32_t>(a.ends.size()));
  for (const AnnouncedEnd& end : a.ends) message.put(end);
  return message.take();
}

std::vector<uint8_t> encode(NoteKind kind, const RegistrationNote& note) {
  MessageWriter message;
  message.put(kind);
  putId(message, note.key.id);
  message.put(note.key.generation).put(note.coming).put(note.value);
  putRanks(message, note.key.ranks);
  return message.take();
}

std::vector<uint8_t> encode(NoteKind kind, uint64_t value) { return MessageWriter().put(kind).put(value).take(); }

std::vector<uint8_t> encode(const Vote& vote) { return MessageWriter().put(NoteKind::vote).put(vote).take(); }

std::optional<Note> decodeNote(std::span<const uint8_t> bytes, uint32_t from) {
  MessageReader message(bytes);
  Note note;
  note.kind = message.get<NoteKind>();
  switch (note.kind) {
    case NoteKind::registered: {
      Announcement& a = note.announcement;
      a.from = from;
      a.coming = message.get<uint64_t>();
      a.runs = message.get<uint64_t>();
      a.generation = message.get<uint32_t>();
      a.index = message.get<uint32_t>();
      a.digest = message.get<uint64_t>();
      a.spec.id = getId(message);
      a.spec.collective = message.get<Collective>();
      a.spec.type = message.get<DataType>();
      a.spec.op = message.get<ReduceOp>();
      a.spec.count = message.get<uint64_t>();
      a.spec.root = message.get<uint32_t>();
      a.spec.signature.purpose = message.get<Purpose>();
      a.spec.signature.tag = message.get<uint64_t>();
      a.spec.ranks = getRanks(message);
      a.ends.resize(message.getCount(sizeof(AnnouncedEnd)));
      for (AnnouncedEnd& end : a.ends) end = message.get<AnnouncedEnd>();
      break;
    }
    case NoteKind::poisoned:
    case NoteKind::present:
    case NoteKind::away:
    case NoteKind::dropped:
    case NoteKind::left:
    case NoteKind::progress:
      note.registration.key.id = getId(message);
      note.registration.key.generation = message.get<uint32_t>();
      note.registration.coming = message.get<uint64_t>();
      note.registration.value = message.get<uint64_t>();
      note.registration.key.ranks = getRanks(message);
      break;
    case NoteKind::goodbye:
    case NoteKind::farewell:
      note.value = message.get<uint64_t>();
      break;
    case NoteKind::vote:
      note.vote = message.get<Vote>();
      break;
    default:
      return std::nullopt;
  }
  if (!message.isWhole()) return std::nullopt;
  return note;
}

}  // namespace dfccl
