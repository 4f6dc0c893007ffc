import type { Sqe } from "../../src/sqe.js";

/** An entry of which every word follows from the run number, so that a torn one is recognised. */
export function sampleSqe(run: number): Sqe {
  return {
    id: (run * 2654435761) % 2 ** 32,
    flags: run & 0xffff,
    run,
    completionSlot: (run * 5) % 2 ** 32,
    sendAddress: 0x7fff00000000 + (run % 2 ** 24) * 64,
    recvAddress: 0x7abc00000000 + (run % 2 ** 24) * 4096,
    count: run * 3,
    sendWindow: (run * 7) & 0xffff,
    recvWindow: (run * 11) & 0xffff,
  };
}

/** What is wrong with an entry, or `undefined`. */
export function sqeProblem(sqe: Sqe): string | undefined {
  const whole = sampleSqe(sqe.run);
  for (const key of Object.keys(whole) as (keyof Sqe)[]) {
    if (sqe[key] !== whole[key]) return `torn entry of run ${sqe.run}: ${key} is ${sqe[key]}, not ${whole[key]}`;
  }
  return undefined;
}
