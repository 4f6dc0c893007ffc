import type { World } from "@dfccl/core";
import { checkInteger, checkList, checkObject, InvalidArgumentError, readArgument } from "@dfccl/primitives";
import type { BoxingCollective } from "../boxing/boxing.js";

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
      checkObject("spec", spec, "an object such as { id, collective, ranks, count, priority }");
      const { id, collective, ranks, count, priority } = spec;
      const rank = members[rankNumber];
      if (rank === undefined) throw new InvalidArgumentError("rank", rankNumber, `a rank of the world, which has ${members.length}`);
      const registered = rank.register({ id, collective, dataType: "float32", count, ranks, priority });
      return (send, recv, done) => {
        rank.submit([[registered, send, recv]]).then(
          () => done(),
          (error: unknown) => done(error),
        );
      };
    },
  };
}
