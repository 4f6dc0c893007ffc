import { type DataType, type TypedArrayOf, typedArrayOf } from "@dfccl/primitives";
import type { CollectiveOptions, RegisteredCollective, World } from "../../src/index.js";
import { bytesOf, elementsOf } from "./elements.js";
import { type ReferenceCase, referenceOutputs } from "./reference.js";

export interface EverywhereOptions extends ReferenceCase {
  readonly dataType: DataType;
  /** Ranks of the world that take part; default: the first ones. */
  readonly ranks?: readonly number[];
  readonly inPlace?: boolean;
  readonly program?: CollectiveOptions["program"];
}

let nextId = 1000;

/**
 * Runs a collective once on all its ranks.
 * @returns the first rank whose output differs from the reference in some byte, with both, or undefined.
 */
export async function findDifference(world: World, options: EverywhereOptions): Promise<unknown> {
  const { dataType, inputs, count, root, op, scales, collective } = options;
  const ranks = options.ranks ?? inputs.map((_, member) => member);
  const expected = referenceOutputs(options).map((values) => elementsOf(dataType, values));
  const id = nextId++;
  const runs = ranks.map((number, member) => {
    const rank = world.ranks[number];
    if (rank === undefined) throw new Error(`the world has no rank ${number}`);
    const registered = rank.register({
      id,
      collective,
      dataType,
      op,
      count,
      root,
      ranks,
      scale: scales[member] ?? 1,
      ...(options.program === undefined ? {} : { program: options.program }),
    });
    const outputLength = expected[member]?.length ?? 0;
    const [send, recv] = buffers(dataType, member, inputs[member] ?? [], outputLength, count, options.inPlace ?? false);
    return { registered, send, recv };
  });
  await Promise.all(runs.map(({ registered, send, recv }) => registered.run(send, recv)));
  const different = runs.findIndex(
    ({ recv }, member) => expected[member] !== undefined && !Buffer.from(bytesOf(recv)).equals(bytesOf(expected[member])),
  );
  unregisterAll(runs.map(({ registered }) => registered));
  if (different < 0) return undefined;
  return { rank: different, got: [...(runs[different]?.recv ?? [])], expected: [...(expected[different] ?? [])] };
}

export function unregisterAll(collectives: readonly RegisteredCollective[]): void {
  for (const collective of collectives) collective.unregister();
}

/** Send and receive buffer of one rank; in place, as NCCL defines it, one is a part of the other. */
function buffers<T extends DataType>(
  dataType: T,
  member: number,
  input: readonly number[],
  outputLength: number,
  count: number,
  inPlace: boolean,
): [TypedArrayOf<T>, TypedArrayOf<T>] {
  const values = elementsOf(dataType, input);
  if (!inPlace || input.length === 0 || outputLength === 0) return [values, new (typedArrayOf(dataType))(outputLength) as TypedArrayOf<T>];
  const whole = new (typedArrayOf(dataType))(Math.max(input.length, outputLength)) as TypedArrayOf<T>;
  const part = (length: number): TypedArrayOf<T> => {
    const begin = length === whole.length ? 0 : member * count;
    return whole.subarray(begin, begin + length) as TypedArrayOf<T>;
  };
  const send = part(input.length);
  bytesOf(send).set(bytesOf(values));
  return [send, part(outputLength)];
}
