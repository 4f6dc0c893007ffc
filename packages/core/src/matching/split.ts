import { InvalidArgumentError } from "@dfccl/primitives";
import { isDeviceBuffer } from "../device-buffer.js";
import { CollectiveTimeoutError } from "../errors.js";
import { nativeAddon } from "../native-addon/native-world.js";
import type { MatchedGroup } from "./matched-group.js";
import type { Matching } from "./matching.js";
import type { Signature } from "./signature.js";

const words = 2; // colour, key

/** See {@link Group.split}. @returns this rank's part; undefined: it is in none. */
export async function split(
  matching: Matching,
  group: MatchedGroup,
  colour: number,
  key: number,
  timeoutMs: number | undefined,
): Promise<MatchedGroup | undefined> {
  checkInt32("colour", colour);
  checkInt32("key", key);
  matching.requireUsable(group);
  group.splits += 1;
  const number = group.splits;
  const choices = await exchange(matching, group, Int32Array.of(colour, key), number, timeoutMs);
  if (colour < 0) return undefined;
  const ranks = group.ranks
    .map((rank, place) => ({ rank, place, colour: choices[words * place], key: choices[words * place + 1] ?? 0 }))
    .filter((member) => member.colour === colour)
    .sort((a, b) => a.key - b.key || a.place - b.place)
    .map(({ rank }) => rank);
  return matching.makeGroup(Object.freeze(ranks), nativeAddon().nameOfPart(group.id, number, colour));
}

/** All members' choices. */
async function exchange(
  matching: Matching,
  group: MatchedGroup,
  own: Int32Array,
  number: number,
  timeoutMs: number | undefined,
): Promise<Int32Array> {
  const { rank } = matching;
  const [send, recv] = [rank.allocate("int32", words), rank.allocate("int32", words * group.size)];
  const signature: Signature = {
    purpose: "split",
    collective: "all-gather",
    dataType: "int32",
    op: "sum",
    root: 0,
    receiver: 0,
    count: words,
    tag: number,
    countsHash: 0,
  };
  if (isDeviceBuffer(send)) await send.copyFrom(own);
  else (send as Int32Array).set(own);
  try {
    await matching.run(group, signature, send, recv, timeoutMs);
  } catch (error) {
    // Those that come later must not wait for a rank that has gone on.
    if (error instanceof CollectiveTimeoutError) matching.abortRun(group, signature);
    throw error;
  }
  return isDeviceBuffer(recv) ? ((await recv.read()) as Int32Array) : (recv as Int32Array);
}

function checkInt32(argument: string, value: number): void {
  if (Number.isInteger(value) && Math.abs(value) <= 0x7fff_ffff) return;
  throw new InvalidArgumentError(argument, value, "a whole number of 32 bits");
}
