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
  const { number, choices } = await exchange(matching, group, Int32Array.of(colour, key), timeoutMs);
  if (colour < 0) return undefined;
  const ranks = group.ranks
    .map((rank, place) => ({ rank, place, colour: choices[words * place], key: choices[words * place + 1] ?? 0 }))
    .filter((member) => member.colour === colour)
    .sort((a, b) => a.key - b.key || a.place - b.place)
    .map(({ rank }) => rank);
  return matching.makePart(Object.freeze(ranks), nativeAddon().nameOfPart(group.id, number, colour));
}

/** Which of the group's splits it is, and all members' choices. */
async function exchange(
  matching: Matching,
  group: MatchedGroup,
  own: Int32Array,
  timeoutMs: number | undefined,
): Promise<{ readonly number: number; readonly choices: Int32Array }> {
  const { rank } = matching;
  const [send, recv] = [rank.allocate("int32", words), rank.allocate("int32", words * group.size)];
  const begin = (): Begun => {
    const number = group.splits + 1;
    const signature = signatureOf(number);
    const over = matching.run(group, signature, send, recv, timeoutMs);
    group.splits = number; // What was refused doesn't count: the other ranks don't know of it.
    return { number, signature, over };
  };
  if (!isDeviceBuffer(send)) (send as Int32Array).set(own);
  const { number, signature, over } = isDeviceBuffer(send) ? await inTurn(group, () => send.copyFrom(own), begin) : begin();
  try {
    await over;
  } catch (error) {
    // Those that come later must not wait for a rank that has gone on.
    if (error instanceof CollectiveTimeoutError) matching.abortRun(group, signature);
    throw error;
  }
  return { number, choices: (isDeviceBuffer(recv) ? await recv.read() : recv) as Int32Array };
}

interface Begun {
  readonly number: number;
  readonly signature: Signature;
  /** In an object, for a promise of it would be that of the submission. */
  readonly over: PromiseLike<void>;
}

/** Begins when what it sends is written, and behind the splits of the group that were called before. */
function inTurn(group: MatchedGroup, write: () => Promise<void>, begin: () => Begun): Promise<Begun> {
  const begun = group.splitting.then(write).then(begin);
  group.splitting = begun.then(
    () => {},
    () => {},
  );
  return begun;
}

function signatureOf(number: number): Signature {
  return {
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
}

function checkInt32(argument: string, value: number): void {
  if (Number.isInteger(value) && Math.abs(value) <= 0x7fff_ffff) return;
  throw new InvalidArgumentError(argument, value, "a whole number of 32 bits");
}
