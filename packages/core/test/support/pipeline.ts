import type { Rank } from "../../src/index.js";

/** Stages that pass micro-batches on, one forward and one backward in turn (1F1B), as Megatron-LM's schedule has them. */
export interface Pipeline {
  readonly stages: number;
  readonly microBatches: number;
  /** Of the two messages that neighbours exchange, which a stage asks for first. */
  readonly sendsFirst: (stage: number) => boolean;
  /** Before each pass of a stage. */
  readonly delay: (stage: number) => Promise<unknown>;
}

type Vector = Int32Array<ArrayBuffer>;

const elements = 40;
const [forwards, backwards] = [1, 2];

const input = (microBatch: number): Vector => Int32Array.from({ length: elements }, (_, i) => microBatch + i);
const forward = (stage: number, x: Vector): Vector => x.map((value) => 2 * value + stage);
const lossOf = (y: Vector): Vector => y.map((value) => value % 7);
const backward = (x: Vector, gradient: Vector): Vector => gradient.map((value, i) => 3 * value - (x[i] ?? 0));

/** What comes back of a micro-batch. */
export function gradientOf(stages: number, microBatch: number): Vector {
  const activations = [input(microBatch)];
  for (let stage = 0; stage < stages; stage += 1) activations.push(forward(stage, activations[stage] ?? input(0)));
  let gradient = lossOf(activations[stages] ?? input(0));
  for (let stage = stages - 1; stage >= 0; stage -= 1) gradient = backward(activations[stage] ?? input(0), gradient);
  return gradient;
}

/** One rank's stage, of the number that the rank has. @returns what comes back of each micro-batch, on the first stage. */
export async function runStage(rank: Rank, { stages, microBatches, sendsFirst, delay }: Pipeline): Promise<readonly Vector[]> {
  const stage = rank.number;
  const last = stages - 1;
  const [sends, activations, results]: [Promise<void>[], Vector[], Vector[]] = [[], [], []];
  let begun = 0;

  const send = (x: Vector, peer: number, tag: number): void => {
    const sent = rank.send(x, peer, { tag });
    sent.catch(() => {}); // Told of at the end, if the stage comes so far.
    sends.push(sent);
  };
  const receive = async (peer: number, tag: number): Promise<Vector> => {
    const x = new Int32Array(elements);
    await rank.recv(x, peer, { tag });
    return x;
  };
  const exchange = (x: Vector, peer: number, out: number, back: number): Promise<Vector> => {
    if (sendsFirst(stage)) send(x, peer, out);
    const received = receive(peer, back);
    if (!sendsFirst(stage)) send(x, peer, out);
    return received;
  };
  const next = async (): Promise<Vector> => {
    begun += 1;
    return stage === 0 ? input(begun - 1) : receive(stage - 1, forwards);
  };
  const goForward = async (x: Vector): Promise<Vector> => {
    await delay(stage);
    activations.push(x);
    return forward(stage, x);
  };
  const goBackward = async (gradient: Vector): Promise<Vector> => {
    await delay(stage);
    return backward(activations.shift() ?? input(0), gradient);
  };
  const giveBack = (gradient: Vector): void => {
    if (stage === 0) results.push(gradient);
    else send(gradient, stage - 1, backwards);
  };

  const ahead = Math.min(last - stage, microBatches);
  for (let i = 0; i < ahead; i += 1) send(await goForward(await next()), stage + 1, forwards);
  let x = ahead < microBatches ? await next() : undefined;
  while (x !== undefined) {
    const y = await goForward(x);
    const gradient = await goBackward(stage === last ? lossOf(y) : await exchange(y, stage + 1, forwards, backwards));
    if (begun === microBatches) {
      giveBack(gradient);
      x = undefined;
    } else if (stage === 0) {
      giveBack(gradient);
      x = await next();
    } else {
      begun += 1;
      x = await exchange(gradient, stage - 1, backwards, forwards);
    }
  }
  for (let i = 0; i < ahead; i += 1) giveBack(await goBackward(await receive(stage + 1, backwards)));
  await Promise.all(sends);
  return results;
}
