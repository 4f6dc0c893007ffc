import { decodeRankImage } from "./binary/decode.js";
import { encodeRankImage } from "./binary/encode.js";
import { Fnv64 } from "./binary/fnv.js";
import { type RankImage, rankImageOf } from "./binary/rank-image.js";
import { checkInteger } from "./check-number.js";
import { checkObject } from "./check-object.js";
import { checkProgram, checkProgramFacts, checkRankProgram } from "./check-program.js";
import { InvalidArgumentError } from "./errors.js";
import type { Program } from "./program.js";

export type { RankImage } from "./binary/rank-image.js";

/**
 * 64-bit digest of a whole program: FNV-1a over the binary form of every rank in order, with the digest field 0. Ranks
 * that hold the same digest hold the same program.
 */
export function programDigest(program: Program): bigint {
  checkProgram(program);
  const fnv = new Fnv64();
  for (let rank = 0; rank < program.ranks.length; rank += 1) fnv.update(encodeRankImage(rankImageOf(program, rank, 0n)));
  return fnv.digest();
}

/**
 * One rank's binary program, as native/src/base/program.hpp lays it out. The same program gives the same bytes.
 * @param program - one that `verifyProgram` accepts; the fields of others may not fit into their records.
 * @param rank - index into the collective's rank list.
 * @param digest - {@link programDigest} of the program; pass it when encoding several ranks.
 * @throws {InvalidArgumentError} if there is no such rank.
 * @throws {ConnectionSharedError} if two blocks use one end of a connection, which the binary form can't say.
 */
export function encodeProgram(program: Program, rank: number, digest?: bigint): Uint8Array {
  checkProgram(program);
  if (typeof rank !== "number" || program.ranks[rank] === undefined) {
    throw new InvalidArgumentError("rank", rank, `a rank, which is a whole number from 0 to ${program.ranks.length - 1}`);
  }
  if (digest !== undefined && typeof digest !== "bigint") throw new InvalidArgumentError("digest", digest, "what programDigest() returns");
  return encodeRankImage(rankImageOf(program, rank, digest ?? programDigest(program)));
}

/** The binary programs of all ranks. */
export function encodeAllRanks(program: Program): Uint8Array[] {
  const digest = programDigest(program);
  return program.ranks.map((_, rank) => encodeRankImage(rankImageOf(program, rank, digest)));
}

/**
 * Reads one rank's binary program from bytes that need not be trusted. `encodeRank(decodeProgram(bytes))` gives the
 * same bytes again.
 * @throws {MalformedProgramError} with the offset where the bytes stop making sense; for bytes never anything else.
 * @throws {InvalidArgumentError} for what are no bytes.
 */
export function decodeProgram(bytes: Uint8Array): RankImage {
  if (!ArrayBuffer.isView(bytes)) throw new InvalidArgumentError("bytes", bytes, "a Uint8Array, as encodeProgram() returns it");
  // Of a detached buffer nothing can be read, not even that nothing is there.
  return decodeRankImage(bytes.byteLength === 0 ? new Uint8Array(0) : bytes);
}

/** Encodes one decoded rank again. */
export function encodeRank(image: RankImage): Uint8Array {
  checkObject("image", image, "what decodeProgram() returns");
  checkProgramFacts({ ...image, ranks: [] });
  checkRankProgram(image.program, "program");
  for (const field of ["rank", "rankCount", "maxStepCount"] as const) checkInteger(`image.${field}`, image[field], 0);
  if (typeof image.digest !== "bigint") throw new InvalidArgumentError("image.digest", image.digest, "what programDigest() returns");
  return encodeRankImage(image);
}
