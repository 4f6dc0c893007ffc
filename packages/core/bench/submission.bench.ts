import { openWorld, type RunRequest } from "../src/index.js";
import { measure, type Row } from "./measure.js";

const batchSize = 16_384;

/** From submit() through queue, daemon and completion to the callback, on one rank whose program does nothing. */
export async function submissionRows(): Promise<Row[]> {
  using world = openWorld({ ranks: 1, workers: 1, submissionSlots: 32_768, completionSlots: 32_768 });
  const [rank] = world.ranks;
  if (rank === undefined) throw new Error("a world of one rank has one");
  const barrier = rank.register({ id: 1, collective: "barrier", dataType: "int8", count: 0 });
  const barriers: RunRequest[] = Array.from({ length: batchSize }, () => [barrier]);

  const withBuffers: RunRequest[] = Array.from({ length: 64 }, (_, i) => {
    const collective = rank.register({ id: 100 + i, collective: "all-reduce", dataType: "float32", count: 1 });
    return [collective, rank.allocate("float32", 1), rank.allocate("float32", 1)];
  });
  const spread = Array.from({ length: batchSize }, (_, i) => withBuffers[i % withBuffers.length] ?? [barrier]) as RunRequest[];

  const submitOnly = (requests: readonly RunRequest[]) => async (): Promise<number> => {
    const begin = performance.now();
    const batch = rank.submit(requests);
    const milliseconds = performance.now() - begin;
    await batch;
    return milliseconds;
  };

  const callbacks = async (): Promise<number> => {
    let delivered = 0;
    const begin = performance.now();
    await rank.submit(barriers, {
      onComplete: () => {
        delivered += 1;
      },
    });
    if (delivered !== batchSize) throw new Error(`${delivered} completions instead of ${batchSize}`);
    return performance.now() - begin;
  };

  // As a training loop does: batches of 161 go on while earlier ones complete.
  const windows = 400;
  const resubmitting = (): Promise<number> => {
    const begin = performance.now();
    const requests = barriers.slice(0, 161);
    let submitted = 0;
    let outstanding = 0;
    return new Promise((resolve) => {
      const submitNext = (): void => {
        submitted += 1;
        outstanding += 1;
        let left = requests.length;
        rank.submit(requests, {
          onComplete: () => {
            left -= 1;
            if (left > 0) return;
            outstanding -= 1;
            if (submitted < windows) submitNext();
            else if (outstanding === 0) resolve(performance.now() - begin);
          },
        });
      };
      for (let i = 0; i < 8; i += 1) submitNext();
    });
  };

  const promises = async (): Promise<number> => {
    const begin = performance.now();
    await Promise.all(Array.from({ length: 2000 }, () => barrier.run()));
    return performance.now() - begin;
  };

  const oneByOne = async (): Promise<number> => {
    const begin = performance.now();
    for (let i = 0; i < 200; i += 1) await barrier.run();
    return performance.now() - begin;
  };

  return [
    await measure(`submit() of ${batchSize} barriers: SQEs`, batchSize, submitOnly(barriers)),
    await measure(`submit() of ${batchSize} runs of 64 collectives with buffers: SQEs`, batchSize, submitOnly(spread)),
    await measure(`the same barriers until the last callback: completions`, batchSize, callbacks),
    await measure("8 batches of 161 in flight, each followed by another: completions", windows * 161, resubmitting),
    await measure("run() 2000 times, then Promise.all: completions", 2000, promises),
    await measure("await run(), one after another: completions", 200, oneByOne),
  ];
}
