// What random programs of groups consist of: every call that needs no registration, and runs that bring their counts under an id.
import type { Collectives, Group, InGroup, Rank, Received } from "../../src/index.js";

export const stepKinds = [
  ...(["allReduce", "reduce", "broadcast", "allGather", "reduceScatter", "allToAll", "gather", "scatter", "barrier"] as const),
  ...(["message", "fromAny", "allToAllV", "allGatherV", "reduceScatterV", "gatherV", "scatterV", "counted"] as const),
];

/** The same on all ranks. */
export interface Step {
  readonly kind: (typeof stepKinds)[number];
  /** Tells it from all others of its program. */
  readonly number: number;
  readonly count: number;
  /** Places in its group. */
  readonly root: number;
  readonly peer: number;
}

/** Of a rank's own methods, which return promises, or of a batch. */
export type Calls = { readonly [Name in keyof Collectives]: (...args: Parameters<Collectives<InGroup>[Name]>) => unknown };

export interface BegunStep {
  /** Promises among what its calls returned. */
  readonly over: readonly unknown[];
  /** Once all is over. @returns what is wrong. */
  readonly check: () => Promise<string | undefined>;
}

const indices = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
const elementOf = (step: Step, member: number, i: number): number => (step.number * 7 + member * 13 + i * 3) % 101;
/** What a member of an uneven collective sends to another; where all agree on one list, `from` is 0. */
const partOf = (step: Step, from: number, to: number): number => (step.number + 3 * from + 5 * to) % 4;
const before = (step: Step, from: number, to: number): number => indices(to).reduce((sum, other) => sum + partOf(step, from, other), 0);
const countsOf = ({ count }: Step): readonly number[] => [count, 0, count >> 1];

/** Elements `at` to `at + count` of what a member has. */
const had = (step: Step, member: number, count: number, at = 0): number[] => indices(count).map((i) => elementOf(step, member, at + i));
const sums = (step: Step, members: number, count: number, at = 0): number[] =>
  indices(count).map((i) => indices(members).reduce((sum, member) => sum + elementOf(step, member, at + i), 0));

/** What member `m` of `n` must get. */
function expectedOf(step: Step, n: number, m: number): number[] {
  const { kind, count, root, peer } = step;
  const all = indices(n);
  const isRoot = m === root;
  switch (kind) {
    case "allReduce":
      return sums(step, n, count);
    case "reduce":
      return isRoot ? sums(step, n, count) : [];
    case "broadcast":
      return had(step, root, count);
    case "allGather":
      return all.flatMap((from) => had(step, from, count));
    case "gather":
      return isRoot ? all.flatMap((from) => had(step, from, count)) : [];
    case "reduceScatter":
      return sums(step, n, count, m * count);
    case "allToAll":
      return all.flatMap((from) => had(step, from, count, m * count));
    case "scatter":
      return had(step, root, count, m * count);
    case "message":
    case "fromAny":
      return m === peer ? had(step, root, count) : [];
    case "allToAllV":
      return all.flatMap((from) => had(step, from, partOf(step, from, m), before(step, from, m)));
    case "allGatherV":
      return all.flatMap((from) => had(step, from, partOf(step, 0, from)));
    case "gatherV":
      return isRoot ? all.flatMap((from) => had(step, from, partOf(step, 0, from))) : [];
    case "reduceScatterV":
      return sums(step, n, partOf(step, 0, m), before(step, 0, m));
    case "scatterV":
      return had(step, root, partOf(step, 0, m), before(step, 0, m));
    case "barrier":
      return [];
    case "counted":
      return countsOf(step).flatMap((each) => sums(step, n, each));
  }
}

/** Makes a step's calls on one rank. */
export function beginStep(step: Step, rank: Rank, group: Group, calls: Calls): BegunStep {
  const { kind, count, root, peer, number } = step;
  const [n, m] = [group.size, group.rank];
  const expected = expectedOf(step, n, m);
  const recv = new Int32Array(expected.length).fill(-1);
  const options = { tag: number, group };
  const own = (length: number): Int32Array => Int32Array.from(had(step, m, length));
  const agreed = indices(n).map((to) => partOf(step, 0, to));
  const [sent, total] = [agreed[m] ?? 0, before(step, 0, n)];
  let source: unknown = root;
  const one = (over: unknown): unknown[] => [over];

  const begin = (): unknown[] => {
    switch (kind) {
      case "allReduce":
        return one(calls.allReduce(own(count), { ...options, into: recv }));
      case "reduce":
        return one(calls.reduce(own(count), { ...options, root, ...(m === root ? { into: recv } : {}) }));
      case "broadcast":
        return one(calls.broadcast(m === root ? own(count) : recv, { ...options, root, into: recv }));
      case "allGather":
        return one(calls.allGather(own(count), recv, options));
      case "reduceScatter":
        return one(calls.reduceScatter(own(n * count), recv, options));
      case "allToAll":
        return one(calls.allToAll(own(n * count), recv, options));
      case "gather":
        return one(calls.gather(own(count), recv, { ...options, root }));
      case "scatter":
        return one(calls.scatter(m === root ? own(n * count) : null, recv, { ...options, root }));
      case "barrier":
        return one(calls.barrier(options));
      case "message":
      case "fromAny":
        return exchange();
      case "allToAllV": {
        const [out, back] = [indices(n).map((to) => partOf(step, m, to)), indices(n).map((from) => partOf(step, from, m))];
        return one(calls.allToAllV(own(before(step, m, n)), out, recv, back, options));
      }
      case "allGatherV":
        return one(calls.allGatherV(own(sent), recv, agreed, options));
      case "reduceScatterV":
        return one(calls.reduceScatterV(own(total), recv, agreed, options));
      case "gatherV":
        return one(calls.gatherV(own(sent), recv, agreed, { ...options, root }));
      case "scatterV":
        return one(calls.scatterV(m === root ? own(total) : null, recv, agreed, { ...options, root }));
      case "counted":
        return one(runCounted());
    }
  };
  /** A rank that does both, to itself, in either order. */
  const exchange = (): unknown[] => {
    const send = (): unknown[] => (m === root ? [calls.send(own(count), peer, options)] : []);
    const receive = (): unknown[] => {
      if (m !== peer) return [];
      if (kind === "message") return [calls.recv(recv, root, options)];
      source = calls.recvAny(recv, options);
      return [source];
    };
    return rank.number % 2 === 0 ? [...send(), ...receive()] : [...receive(), ...send()];
  };
  const runCounted = async (): Promise<void> => {
    const facts = { collective: "all-reduce", dataType: "int32", countPerRun: true } as const;
    using sum = rank.register({ id: number, ...facts, count: 2 ** 32, ranks: group.ranks });
    let at = 0;
    const runs = countsOf(step).map((each) => {
      at += each;
      return sum.run(own(each), recv.subarray(at - each, at), { count: each });
    });
    await Promise.all(runs);
  };

  const over = begin();
  const check = async (): Promise<string | undefined> => {
    const from = (await source) as number | Received;
    const whose = typeof from === "number" ? from : from.source;
    if (whose === root && recv.every((value, i) => value === expected[i])) return undefined;
    return `${JSON.stringify(step)} at ${m} of ${n}: ${recv}, not ${expected}; from ${whose}`;
  };
  return { over, check };
}
