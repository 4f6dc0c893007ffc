import type { World } from "@dfccl/core";
import {
  checkFunction,
  checkInteger,
  checkList,
  checkObject,
  InvalidArgumentError,
  type OptionNames,
  readArgument,
} from "@dfccl/primitives";
import type { BoxingCollective } from "../boxing/boxing.js";
import { readFields } from "../read-fields.js";

/** A collective of a compiled graph, as one of its ranks registers it. */
export interface CollectiveSpec {
  readonly id: number;
  readonly collective: BoxingCollective;
  /** The first is the root. */
  readonly ranks: readonly number[];
  /** Elements of a segment, as the library counts them. */
  readonly count: number;
  readonly priority: number;
}

/** Runs it once: never waits, calls back when the buffers are this rank's again. */
export type CollectiveRun = (send: Float32Array | undefined, recv: Float32Array | undefined, done: (failure?: unknown) => void) => void;

const specNames: OptionNames<CollectiveSpec> = { id: true, collective: true, ranks: true, count: true, priority: true };

/** What compiled graphs need of a collective library. */
export interface CollectiveLibrary {
  open(rank: number, spec: CollectiveSpec): CollectiveRun;
}

/** `@dfccl/core` as that library: collective actors submit when their registers are ready, in whatever order that is. @throws {InvalidArgumentError} */
export function coreCollectives(world: World): CollectiveLibrary {
  const aWorld = "a world that openWorld() opened";
  checkObject("world", world, aWorld);
  const members = readArgument("world.ranks", aWorld, () => world.ranks);
  checkList("world.ranks", members, aWorld);
  return {
    open(rankNumber, spec) {
      checkInteger("rank", rankNumber, 0);
      const example = "an object such as { id, collective, ranks, count, priority }";
      const { id, collective, ranks, count, priority } = readFields("spec", spec, specNames, example);
      const rank = members[rankNumber];
      if (rank === undefined) throw new InvalidArgumentError("rank", rankNumber, `a rank of the world, which has ${members.length}`);
      const registered = rank.register({ id, collective, dataType: "float32", count, ranks, priority });
      return (send, recv, done) => {
        checkFunction("done", done, "a function that gets the failure, if there is one");
        rank.submit([[registered, send, recv]]).then(
          () => done(),
          (error: unknown) => done(error),
        );
      };
    },
  };
}
