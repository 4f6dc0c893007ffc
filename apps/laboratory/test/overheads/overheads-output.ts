const parts = [
  ...["sqeWrite", "sqeWriteInBatch", "submit", "sqeRead", "feedPublish", "feedTakeByTwoBlocks", "takeIn", "stepStuck"],
  ...["contextLoad", "contextLoadAndSave", "noopOfMany", "noopAlone"],
  ...["owned", "cas", "packed", "vanilla"].flatMap((queue) => [`cqeWrite:${queue}`, `cqePoll:${queue}`]),
];

/** What overheads_bench writes, with every part taking as long. */
export function overheadsOutput(ns: number, wrong = 0): string {
  const lines = [
    { probe: true, cores: 2, coreRoundTripNs: 85, copyGBs: 24.5 },
    ...parts.map((part) => ({ part, ns, bestNs: ns / 2 })),
    { noopRunsPerSecond: 1e9 / ns },
    { ranks: 2, bytes: 8, wholeUs: ns, bareUs: ns / 10, addedNsPerRank: 450 * ns, ratio: 10, wrong },
    { registered: 1000, ranks: 8, bytesPerRankAndCollective: 583, residentBytesPerRankAndCollective: 1200, arenaBytes: 0 },
  ];
  return `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
}
