import type { ProgramDefinition } from "@dfccl/compiler";
import * as algorithms from "@dfccl/compiler/algorithms";

/** How many ranks, and of how many machines where an algorithm asks for that. */
export interface RankShape {
  readonly nodes: number;
  /** Ranks of each. */
  readonly gpus: number;
}

/** What an algorithm may be asked for; each takes what it knows. */
interface Request extends RankShape {
  readonly ranks: number;
  readonly channels?: number;
}

const byName: ReadonlyMap<string, (request: Request) => ProgramDefinition> = new Map(
  Object.entries(algorithms).map(([name, define]) => [name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`), define]),
);

/** Those that may go over several channels. */
const withChannels: ReadonlySet<string> = new Set(["ring-all-reduce"]);

/** As they are typed: ring-all-reduce, … */
export const algorithmNames: readonly string[] = [...byName.keys()];

/**
 * An algorithm of `@dfccl/compiler/algorithms` by its name.
 * @param name - "ring-all-reduce", …
 * @param channels - of a ring.
 * @returns undefined if there is none of that name, or none that goes over channels where some are asked for.
 */
export function namedAlgorithm(
  name: string,
  shape: RankShape = { nodes: 1, gpus: 4 },
  channels: number | undefined = undefined,
): ProgramDefinition | undefined {
  if (channels !== undefined && !withChannels.has(name)) return undefined;
  return byName.get(name)?.({ ...shape, ranks: shape.nodes * shape.gpus, ...(channels === undefined ? {} : { channels }) });
}
