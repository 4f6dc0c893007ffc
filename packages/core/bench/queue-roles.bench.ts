import {
  createOwnedSlots,
  createSubmissionRing,
  ownedSlotsBytes,
  SubmissionProducer,
  sharedWords,
  submissionRingBytes,
} from "@dfccl/queues";
import { RankQueues } from "../src/rank-queues.js";
import { measure, type Row } from "./measure.js";

const capacity = 32_768;
const batchSize = 16_384;
const address = 0x7f00_1234_5678;

/**
 * What an entry costs when it is written by `RankQueues` and by the roles of `@dfccl/queues`, on the same kind of memory
 * and without an engine: this benchmark stands in for it between two rounds.
 */
export async function queueRoleRows(): Promise<Row[]> {
  const submissions = new ArrayBuffer(submissionRingBytes(capacity));
  const completions = new ArrayBuffer(ownedSlotsBytes(capacity));
  const ring = createSubmissionRing(sharedWords(submissions), capacity);
  const slots = createOwnedSlots(sharedWords(completions), capacity);
  const counters = new BigUint64Array(8);
  const inFlight = new Int32Array(batchSize);

  const queues = new RankQueues({
    submissions,
    completions,
    counters: counters.buffer,
    control: new ArrayBuffer(16),
    sleepers: new ArrayBuffer(4),
    sharedSlots: capacity,
    ownPlaces: true,
  });
  const postAll = (): void => {
    const post = slots.producer();
    for (const slot of inFlight) post.post(slot, { id: 5, status: 1, run: 0 });
    const words = new Int32Array(submissions);
    words.copyWithin(16, 0, 2); // head = tail: the leader has read everything
  };

  const merged = (): number => {
    const begin = performance.now();
    if (queues.room(batchSize) !== batchSize) throw new Error("there is room for a batch");
    queues.begin();
    for (let i = 0; i < batchSize; i += 1) inFlight[i] = queues.write(5, address + i, address, 0, 0);
    queues.publish();
    const milliseconds = performance.now() - begin;
    postAll();
    for (const slot of inFlight) queues.freeSlot(slot);
    queues.publishFreed();
    return milliseconds;
  };
  const mergedRow = await measure(`RankQueues: SQEs in batches of ${batchSize}`, batchSize, merged);

  const producer = new SubmissionProducer(ring, 3);
  const claimer = slots.claimer();
  const poller = slots.poller();
  const sqe = {
    id: 5,
    flags: 0,
    run: 0,
    completionSlot: 0,
    sendAddress: 0,
    recvAddress: address,
    count: 0,
    sendWindow: 0,
    recvWindow: 0,
  };
  const roles = (): number => {
    const begin = performance.now();
    if (!producer.tryReserve(batchSize).ok) throw new Error("there is room for a batch");
    for (let i = 0; i < batchSize; i += 1) {
      const slot = claimer.tryClaim() ?? 0;
      sqe.completionSlot = slot;
      sqe.sendAddress = address + i;
      inFlight[i] = slot;
      producer.write(i, sqe);
    }
    producer.publish(batchSize);
    const milliseconds = performance.now() - begin;
    postAll();
    poller.drain((slot) => poller.free(slot));
    return milliseconds;
  };
  const rolesRow = await measure(`SubmissionProducer and Claimer of @dfccl/queues: the same`, batchSize, roles);
  return [mergedRow, rolesRow];
}
