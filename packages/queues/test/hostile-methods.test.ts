import { testHostileMethods } from "../../../scripts/lib/hostile-methods.js";
import * as queues from "../src/index.js";
import { sharedWords } from "../src/index.js";

const memory = (): queues.SharedWords => sharedWords(new SharedArrayBuffer(65_536));
const sqe = () => ({
  ...{ id: 1, flags: 0, run: 1, completionSlot: 0, sendAddress: 8, recvAddress: 16 },
  ...{ count: 4, sendWindow: 0, recvWindow: 0 },
});
const completion = () => ({ id: 1, status: queues.CompletionStatus.completed, run: 1 });
const ignore = (): void => {};

const ring = () => queues.createSubmissionRing(memory(), 16);
testHostileMethods("SubmissionProducer", () => new queues.SubmissionProducer(ring(), 1), {
  tryReserve: () => [1],
  write: () => [0, sqe()],
  publish: () => [1],
  submit: () => [[sqe()]],
  takeOver: () => [2],
});
const one = { submit: (given: never) => new queues.SubmissionProducer(ring(), 1).submit([given]) };
testHostileMethods("SubmissionProducer.of-one", () => one, { submit: () => [sqe()] });
testHostileMethods("SubmissionConsumer", () => new queues.SubmissionConsumer(ring(), "tail"), {
  peek: () => [],
  pop: () => [],
  release: () => [],
  take: () => [],
});

const spmc = () => queues.createSpmcSubmission(memory(), 16, 3);
testHostileMethods("SpmcProducer", () => new queues.SpmcProducer(spmc()), { trySubmit: () => [sqe()] });
testHostileMethods("SpmcConsumer", () => new queues.SpmcConsumer(spmc()), { take: () => [] });

const broadcast = () => queues.createLeaderBroadcast(memory(), 16, 3);
testHostileMethods("BroadcastLeader", () => new queues.BroadcastLeader(broadcast()), { tryPublish: () => [sqe()], hasRoom: () => [] });
testHostileMethods("BroadcastReader", () => new queues.BroadcastReader(broadcast(), 0), { peek: () => [], pop: () => [], take: () => [] });

const pool = () => new queues.BlockPool(memory(), 4);
testHostileMethods("BlockPool", pool, { tryAcquire: () => [] });
testHostileMethods("BlockHolder", () => new queues.BlockHolder(memory()), { hold: () => [1], release: () => [] });

const full = (): queues.FlipFlop => {
  const flipFlop = new queues.FlipFlop(memory());
  flipFlop.tryAdd(1);
  return flipFlop;
};
testHostileMethods("FlipFlop", full, { tryAdd: () => [1], tryGet: () => [], get: () => [ignore] });
testHostileMethods("WorkerBuffer", () => new queues.WorkerBuffer(full(), 4), { push: () => [1], flush: () => [] });
testHostileMethods("TrainerRing", () => new queues.TrainerRing(full(), 4), { next: () => [] });

testHostileMethods("WaveCaller", () => new queues.WaveCaller(memory(), 2), { start: () => [], isCollected: () => [] });
testHostileMethods("WaveWorker", () => new queues.WaveWorker(memory()), { isStarted: () => [], finish: () => [] });
testHostileMethods("PaddedWaveCaller", () => new queues.PaddedWaveCaller(memory(), 2), { start: () => [], isCollected: () => [] });
testHostileMethods("PaddedWaveWorker", () => new queues.PaddedWaveWorker(memory(), 0), { isStarted: () => [], finish: () => [] });

for (const name of queues.completionQueueNames) {
  const queue = () => queues.createCompletionQueue(name, memory(), 16);
  testHostileMethods(`${name}.claimer`, () => queue().claimer(), { tryClaim: () => [] });
  testHostileMethods(`${name}.producer`, () => queue().producer(), { post: () => [0, completion()] });
  testHostileMethods(`${name}.poller`, () => queue().poller(), { poll: () => [] });
}

const slots = (): queues.OwnedSlots => {
  const queue = queues.createOwnedSlots(memory(), 16);
  const slot = queue.claimer().tryClaim();
  queue.producer().post(slot ?? 0, completion());
  return queue;
};
testHostileMethods("OwnedSlots", slots, { freeListIndex: () => [0], claimer: () => [], producer: () => [], poller: () => [] });
testHostileMethods("OwnedSlotsPoller", () => slots().poller(), { poll: () => [], drain: () => [ignore, 1], free: () => [0] });
testHostileMethods("OwnedSlotsClaimer", () => slots().claimer(), { tryClaim: () => [] });

testHostileMethods("SharedWords", memory, {
  load: () => [0],
  store: () => [0, 1],
  add: () => [0, 1],
  compareExchange: () => [0, 0, 1],
  load64: () => [0],
  store64: () => [0, 1n],
  exchange64: () => [0, 1n],
  compareExchange64: () => [0, 0n, 1n],
  plainLoad: () => [0],
  plainStore: () => [0, 1],
});
