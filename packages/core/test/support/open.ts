import type { Rank, World } from "../../src/index.js";

/** A rank of a world that has it. */
export function rankOf(world: World, number: number): Rank {
  const rank = world.ranks[number];
  if (rank === undefined) throw new Error(`the world has no rank ${number}`);
  return rank;
}

/** Lets the event loop, and with it the engine, go round so many times. */
export async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** What a promise rejects with. */
export async function failureOf(promise: PromiseLike<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("it should have failed");
}
