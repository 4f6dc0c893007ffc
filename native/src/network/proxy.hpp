#pragma once
// Stands in, on this machine, for the ranks on others: a thread that moves what this process's daemon publishes for
// them to their processes, and puts in what comes from there. The daemon, its connectors and its programs know nothing
// of it.
//
// It also carries what ranks of one machine find in shared memory: who has registered what, who has aborted or left,
// and who is gone. A message never waits for another collective's: every slot that comes has a free place, because its
// sender had a credit for it. So a collective that is stuck here holds up nobody else.
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "network/announcement.hpp"
#include "network/farewells.hpp"
#include "network/quorum_agreement.hpp"
#include "network/remote_end.hpp"
#include "processes/shared_directory.hpp"
#include "processes/shared_generations.hpp"

namespace dfccl {

/// A registration of this process's rank whose members are not all on this machine.
struct RemoteRegistration {
  RegistrationKey key;
  std::shared_ptr<SharedRegistration> shared;
  CollectiveSpec spec;
  uint64_t digest = 0;
  uint32_t member = 0;
  std::vector<uint32_t> remotes;  // members on other machines
  std::vector<uint32_t> ends;     // numbers
  CollectiveRecord* record = nullptr;
  uint64_t coming = 0;            // of this rank's registration
  std::vector<uint32_t> unheard;  // ranks on other machines that may not know of it yet
  uint64_t toldSubmitted = 0;
  uint64_t finishedRuns = 0;  // when this rank unregistered it
  bool isAway = false;        // it has, for now
  bool isLeaving = false;     // it has, for good, and what it sent may still be on its way
  bool hasToldPoison = false;
  bool hasToldLeft = false;
};

class Proxy final : public Links::Receiver {
 public:
  struct Hooks {
    std::function<void()> wake;   // the daemon has something to look at; may be called for each slot
    std::function<void()> alarm;  // some rank is gone, or something was aborted; must not wait for anything
    // Of a daemon that can't call notify(): whether it may publish something soon. Then the proxy looks again and
    // again. Where it says no, `sleepers` counts the proxy while it sleeps: whoever gives the daemon something to do
    // looks there afterwards, and calls notify(). Null: the daemon calls.
    std::function<bool()> mayPublish = nullptr;
    Atomic<uint32_t>* sleepers = nullptr;
    // Something has come that a registration may wait for: who is in it, or left it. Null: nobody has to be told.
    std::function<void()> news = nullptr;
  };

  Proxy(std::shared_ptr<Network> network, std::shared_ptr<Segment> segment, const TileSizes& tiles, uint32_t muteMillis,
        Hooks hooks);
  ~Proxy() override;
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  bool spans(const std::vector<uint32_t>& ranks) const;
  /// As this process sees it. @pre rank is on another machine.
  Presence presenceOf(uint32_t rank) const { return static_cast<Presence>(presence_[rank].load(order::acquire)); }
  bool isAnyGone() const { return isAnyGone_.load(order::acquire) != 0; }

  /// This rank has come to an agreement, as its part of the segment says.
  /// @throws Error dfcclAborted where those that it reaches are too few to decide.
  void joinAgreement();
  /// Who that waits for; nobody: it is over. @throws Error dfcclTimeout as Segment::Lock does.
  std::vector<uint32_t> awaitedByAgreement();

  /// Something has been published or freed.
  void notify();

  /// Which registration of these ranks this one is; under the segment's lock. @throws Error dfcclOutOfMemory;
  /// dfcclRegistrationMismatch where a rank on another machine has registered the id differently.
  uint32_t generationFor(const CollectiveSpec& spec, uint64_t digest);
  /// This rank has joined the registration; under the segment's lock. @param record this rank's. Where it throws,
  /// nobody has heard of it.
  /// @param connectors of the program's connections, in their order; looked at of those to other machines.
  void bind(const std::shared_ptr<SharedRegistration>& registration, uint32_t generation, const CollectiveSpec& spec,
            uint64_t digest, const BoundProgram& program, std::span<const Connector> connectors,
            CollectiveRecord& record);
  /// This rank unregisters it; under the segment's lock. The registration stays until all that was sent is on its way;
  /// where it leaves for now, until nobody needs it to come back.
  void unbind(SharedRegistration& registration, uint64_t finishedRuns, Departure departure);
  /// Whether it still reads or writes this rank's connectors of it, or may come to.
  bool holds(const SharedRegistration& registration) const;
  /// Tells the other machines, once.
  void tellPoisoned(SharedRegistration& registration);
  /// Memory that this process keeps to know of registrations and generations.
  size_t bookBytes() const;
  /// Says goodbye, and waits for a while until everybody has what was sent to him.
  void stop();

 private:
  using Lists = std::pair<CollectiveId, std::vector<uint32_t>>;  // an id and its ranks
  /// A note, or that a link is lost: in the order in which they came.
  struct Incoming {
    uint32_t from;
    std::optional<Presence> lost;
    Note note;
  };

  void receivedSlots(uint32_t from, EndName end, SlotRange slots, std::span<const uint8_t> payload) override;
  void receivedCredit(uint32_t from, EndName end, uint64_t freed) override;
  void receivedNote(uint32_t from, std::span<const uint8_t> note) override;
  void sentSlots(EndName own, SlotRange slots) override;
  void lostLink(uint32_t rank, Presence presence) override;

  void run();
  bool work(uint64_t now);
  void rest();
  void sleep(uint64_t nanos);
  bool moveSlots();
  bool send(RemoteEnd& end);
  bool giveCredit(RemoteEnd& end);
  bool handleNotes();
  /// @return false where it needs the segment's lock and that is taken.
  bool handle(const Incoming& incoming);
  bool handleVote(uint32_t from, const Vote& vote);
  bool handleRegistered(const Announcement& announcement);
  bool handleLeft(uint32_t from, const RegistrationNote& note);
  bool handleAway(uint32_t from, const RegistrationNote& note);
  bool handleDropped(uint32_t from, const RegistrationNote& note);
  void handlePresent(uint32_t from, const RegistrationNote& note);
  void handlePoisoned(uint32_t from, const RegistrationNote& note);
  void handleProgress(uint32_t from, const RegistrationNote& note);
  void makeEnds(RemoteRegistration& registration, const BoundProgram& program, std::span<const Connector> connectors);
  RemoteRegistration& keptOrNew(const std::shared_ptr<SharedRegistration>& shared, uint32_t generation,
                                const CollectiveSpec& spec, uint64_t digest, const BoundProgram& program,
                                std::span<const Connector> connectors);
  void announce(RemoteRegistration& registration, uint64_t runs);
  void applyKnown(RemoteRegistration& registration);
  void apply(RemoteRegistration& registration, const Announcement& announcement);
  void forgetAnnouncement(uint32_t from, const RegistrationKey& key);
  RemoteRegistration* findInUse(const RegistrationKey& key);
  bool isOverWhileAway(const RemoteRegistration& registration) const;
  void hearFrom(RemoteRegistration& registration, uint32_t rank);
  void endStay(RemoteRegistration& registration);
  void drop(const RegistrationKey& key);
  void letDroppedGo();
  void beginAnew(RemoteRegistration& registration, uint32_t rank);
  void poison(RemoteRegistration& registration, uint32_t rank);
  void tellPoison(RemoteRegistration& registration);
  void tellLeft(RemoteRegistration& registration);
  void markDead(const RegistrationKey& key);
  void tellProgress(uint64_t now);
  bool isAgreeing() const;
  void agree(uint64_t now);
  void reportToAgreement();
  void sayGoodbyes();
  void letRegistrationsGo();
  bool isDrained(const RemoteRegistration& registration) const;
  void freeEnds(RemoteRegistration& registration);
  void finishLeaving(RemoteRegistration& registration);
  void lose(uint32_t rank, Presence presence);
  void queueNote(uint32_t rank, std::vector<uint8_t> note) { outbox_.emplace_back(rank, std::move(note)); }
  void tellMembers(const RemoteRegistration& registration, const std::vector<uint8_t>& note);
  RemoteRegistration* find(const RegistrationKey& key);
  RemoteRegistration* find(const SharedRegistration& registration) const;
  RemoteEnd* endOf(EndName name);

  std::shared_ptr<Network> network_;
  std::shared_ptr<Segment> segment_;
  SharedDirectory directory_;
  SharedGenerations generations_;
  const uint32_t rank_;
  const uint32_t muteMillis_;
  Hooks hooks_;
  std::vector<Atomic<uint32_t>> presence_;  // [rank]
  Atomic<uint32_t> isAnyGone_;
  Atomic<uint64_t> joinedAgreement_;  // that the thread was told of
  Atomic<uint64_t> cutOffFrom_;       // the agreement that too few can be reached for

  mutable std::mutex mutex_;   // of all that follows; taken after the segment's lock, never before it
  QuorumAgreement agreement_;  // under the segment's lock, too
  std::map<RegistrationKey, std::unique_ptr<RemoteRegistration>> registrations_;
  std::vector<std::unique_ptr<RemoteRegistration>> dropped_;  // the links may still read their slots
  std::vector<std::unique_ptr<RemoteEnd>> ends_;              // [number]
  std::vector<uint32_t> freeNumbers_;
  uint32_t nextTag_ = 1;
  std::map<CollectiveId, std::vector<Announcement>> announced_;  // [id]: by ranks on other machines, that still hold
  uint64_t comings_ = 0;
  std::vector<uint64_t> lastHeard_;  // [rank]: the last coming that it told of
  std::map<Lists, uint32_t> nextGeneration_;
  std::map<Lists, uint32_t> deadGenerations_;  // all below are over
  std::vector<std::pair<uint32_t, std::vector<uint8_t>>> outbox_;
  bool isStopping_ = false;
  bool isStopped_ = false;

  // The thread's own.
  std::deque<Incoming> inbox_;
  std::unique_ptr<Links> links_;
  std::optional<Farewells> farewells_;
  bool hasDelivered_ = false;
  bool hasNews_ = false;
  bool isAnyUnderWay_ = false;  // as mayPublish() said
  bool isAnyBound_ = false;
  bool hasCarried_ = false;  // slots, credits or notes, and not only beats
  uint64_t movedAt_ = 0;     // in ticks: when it did so last
  uint64_t hotTicks_ = 0;    // for so long behind that it looks without a pause
  uint64_t agreedTo_ = 0;    // the last decision that it has passed on
  uint64_t lastTold_ = 0;
  uint64_t lastLoop_ = 0;
  uint64_t stopBy_ = 0;

  enum State : uint32_t { looking, notified, asleep };
  alignas(64) Atomic<uint32_t> state_;
  int bell_ = -1;
  std::thread thread_;
};

}  // namespace dfccl
