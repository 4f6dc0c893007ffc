import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { type Completion, CompletionStatus, highWord, lowWord } from "../src/completion.js";
import { completionQueueBytes } from "../src/completion-queue.js";
import * as layout from "../src/layout.js";
import { leaderBroadcastBytes } from "../src/leader-broadcast.js";
import { sharedWords } from "../src/shared-words.js";
import { spmcSubmissionBytes } from "../src/spmc-submission.js";
import { ENTRY_WORDS, readEntry, SQE_AFTER_CONTROL, SQE_EXIT, VOID_ENTRY, writeEntry } from "../src/sqe.js";
import { submissionRingBytes } from "../src/submission-ring.js";

const nativeFolder = fileURLToPath(new URL("../../../native/", import.meta.url));
const cacheFolder = fileURLToPath(new URL("../../../.cache/native-layout/", import.meta.url));

/** Compiles the native side's dump, once for each version of the headers, and runs it. */
function nativeLayout(): Record<string, unknown> {
  const source = join(nativeFolder, "test/queues/layout_dump.cpp");
  const include = join(nativeFolder, "src");
  const headers = readdirSync(include, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".hpp"));
  const hash = createHash("sha256").update(readFileSync(source));
  for (const name of headers.sort()) hash.update(name).update(readFileSync(join(include, name)));
  const program = join(cacheFolder, `layout-dump-${hash.digest("hex").slice(0, 16)}`);
  if (!existsSync(program)) {
    mkdirSync(cacheFolder, { recursive: true });
    execFileSync("g++", ["-std=c++20", `-I${include}`, source, "-o", `${program}.${process.pid}`]);
    renameSync(`${program}.${process.pid}`, program);
  }
  return JSON.parse(execFileSync(program, { encoding: "utf8" }));
}

const native = nativeLayout();

function hex(low: number, high: number): string {
  return (high >>> 0).toString(16).padStart(8, "0") + (low >>> 0).toString(16).padStart(8, "0");
}

describe("the layouts are the native ones, byte for byte", () => {
  it.each([
    ["submissionRing", { ...layout.submissionRingLayout, bytes16: submissionRingBytes(16) }],
    ["leaderBroadcast", { ...layout.leaderBroadcastLayout, bytes16x3: leaderBroadcastBytes(16, 3) }],
    ["spmcSubmission", { ...layout.spmcSubmissionLayout, bytes16: spmcSubmissionBytes(16) }],
    ["vanillaRing", { ...layout.vanillaRingLayout, bytes16: completionQueueBytes("vanilla-ring", 16) }],
    ["packedRing", { ...layout.packedRingLayout, bytes16: completionQueueBytes("packed-ring", 16) }],
    ["casSlots", { ...layout.casSlotsLayout, bytes16: completionQueueBytes("cas-slots", 16) }],
    ["ownedSlots", { ...layout.ownedSlotsLayout, bytes16: completionQueueBytes("owned-slots", 16) }],
    ["flipFlop", layout.flipFlopLayout],
    ["wave", layout.waveLayout],
    ["paddedWord", layout.paddedWordLayout],
    ["sqe", { words: ENTRY_WORDS / 2, exit: SQE_EXIT, afterControl: SQE_AFTER_CONTROL, void: VOID_ENTRY }],
    ["status", { free: 0, ...CompletionStatus }],
  ])("%s", (name, here) => {
    expect(here).toEqual(native[name]);
  });

  it("an entry is written with the same bits, and read back", () => {
    const sqe = {
      id: 0x89abcdef,
      flags: 0x4321,
      run: 0x123456789abc,
      completionSlot: 0xfedcba98,
      sendAddress: 0x7fffdeadbee8,
      recvAddress: 0xffffffffffff,
      count: 0x0badcafe1234,
      sendWindow: 0xfedc,
      recvWindow: 0x9876,
    };
    const words = sharedWords(new ArrayBuffer(64));
    writeEntry(words, 0, 5 * 2 ** 32 + 65534, sqe);
    const written = Array.from({ length: 8 }, (_, i) => hex(words.load(2 * i), words.load(2 * i + 1)));
    expect(written).toEqual(native.sampleEntry);
    expect(readEntry(words, 0)).toEqual(sqe);
  });

  it("a completion has the same bits", () => {
    const completion: Completion = { id: 0x89abcdef, status: CompletionStatus.aborted, run: 0x3456 };
    expect(hex(lowWord(completion), highWord(completion))).toBe(native.sampleCompletion);
  });
});
