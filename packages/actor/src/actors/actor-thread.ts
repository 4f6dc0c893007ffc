import { checkList, InvalidArgumentError, readArgument } from "@dfccl/primitives";
import type { Actor } from "./actor.js";

/** Chooses which of the actors that can act goes first. */
export type PickActor = (ready: readonly Actor[]) => Actor | undefined;

/**
 * The earliest task of the plan: in a pipeline, forward passes before backward ones.
 * @throws {InvalidArgumentError} for what is no list.
 */
export const earliestTask: PickActor = (ready) => {
  checkList("ready", ready, aList);
  return readArgument("ready", aList, () => ready[0]);
};
const aList = "a list of actors";

/** The same for threads, which ask for each act. */
export const pickFirst: PickActor = (ready) => ready[0];

/** The tasks of one stream. One acts at a time, except those whose kernels only submit. */
export class ActorThread {
  private readonly actors: Actor[] = [];
  private isBusy = false;

  constructor(private readonly pick: PickActor) {}

  add(actor: Actor): void {
    this.actors.push(actor);
  }

  /** The next actor to act, marked as acting; none while the stream is busy or nobody can. */
  next(): Actor | undefined {
    const ready = this.actors.filter((actor) => actor.canAct && !(this.isBusy && actor.task.isAsynchronous !== true));
    const actor = this.pick(ready);
    if (actor !== undefined && !ready.includes(actor))
      throw new InvalidArgumentError("pick", actor, "a function that returns one of the actors it is given, or undefined");
    if (actor !== undefined && actor.task.isAsynchronous !== true) this.isBusy = true;
    return actor;
  }

  /** An actor that next() returned has finished its act. */
  release(actor: Actor): void {
    if (actor.task.isAsynchronous !== true) this.isBusy = false;
  }
}
