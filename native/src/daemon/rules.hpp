#pragma once
// The rules of a preemptive daemon, each of which prevents a race (docs/architecture/correctness.md). A test builds the
// daemon with one rule taken out and shows that it then fails; every other build has all of them.

namespace dfccl {

struct AllRules {
  /// No side effect before every input and every free slot of a slice is there.
  static constexpr bool voteBeforeWrite = true;
  /// A peer's buffer is touched only for the run that the peer published.
  static constexpr bool mailboxNamesRun = true;
  /// A tile is read from a ring only after its owner has put it there.
  static constexpr bool readsWhatIsFilled = true;
  /// A ring's slot is written over only after all have read it.
  static constexpr bool keepsWhatIsRead = true;
  /// A rank completes only after everyone who touches its buffers is done with them.
  static constexpr bool completeAfterAcknowledge = true;
  /// A block starts run k + 1 only after run k is finished on every local block.
  static constexpr bool runsInOrder = true;
  /// Runs that follow one another exchange through different halves of their landing areas.
  static constexpr bool landsByParity = true;
  /// A sender never has more slots outstanding than the connector holds.
  static constexpr bool credits = true;
  /// The leader decides to leave, at one position of the sequence; all blocks stop there.
  static constexpr bool quitAsAWhole = true;
  /// Contexts that changed are saved before a block leaves or gives their slot away.
  static constexpr bool saveDirtyContexts = true;
  /// A block's task queue is saved before it leaves.
  static constexpr bool saveQueue = true;
  /// A stay is bounded whatever the progress.
  static constexpr bool boundedResidency = true;
  /// No stay ends before every task was tried in it.
  static constexpr bool everyStayTriesAll = true;
  /// A block has every program block whose number is its own modulo the grid.
  static constexpr bool tasksMapModulo = true;
  /// A task changes its block only when all its runs so far are over.
  static constexpr bool movesBetweenRuns = true;
  /// A run waits until every member has registered.
  static constexpr bool holdUntilRegistered = true;
  /// Members whose counts of a run differ move nothing in it.
  static constexpr bool comparesCounts = true;
  /// A run that was submitted behind a stream begins only when the stream has come to it.
  static constexpr bool waitsForStreams = true;
  /// Runs of an id begin in the order of their submission, whichever of them waits for a stream.
  static constexpr bool waitsBehindItsId = true;
  /// What waits for a stream keeps no other id from beginning.
  static constexpr bool waitsApart = true;
  /// Runs on a stream's line are taken in the order of their numbers, whatever the order in which they came.
  static constexpr bool ordersLines = true;
  /// While a stream waits for a run, the daemon doesn't leave.
  static constexpr bool staysForStreams = true;
  /// A daemon says that it leaves before it looks whether a stream waits.
  static constexpr bool saysThatItLeaves = true;
  /// Whoever sees the daemon out looks at the submission queue once more.
  static constexpr bool secondLookAfterExit = true;
};

}  // namespace dfccl
