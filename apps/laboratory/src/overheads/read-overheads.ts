import { BenchError, jsonLines, median, type NativeOverheads, type RegisteredMemory } from "dfccl/internal/measurement";

type Line = Readonly<Record<string, unknown>>;

const wholeFields = ["ranks", "bytes", "wholeUs", "bareUs", "addedNsPerRank", "ratio", "wrong"] as const;
const memoryFields = ["registered", "ranks", "bytesPerRankAndCollective", "residentBytesPerRankAndCollective", "arenaBytes"] as const;

/**
 * The medians of several runs of `overheads_bench`.
 * @param outputs - what each run wrote, at least one.
 * @throws {BenchError} WRONG_RESULTS, or PROGRAM_FAILED where something is missing.
 */
export function readOverheads(outputs: readonly string[]): NativeOverheads {
  const runs = outputs.map(jsonLines);
  const [first = []] = runs;
  const memory = first.find((line) => "registered" in line);
  const parts = first.filter((line) => "part" in line).map(({ part }) => String(part));
  const wholes = first.filter((line) => "wholeUs" in line);
  if (memory === undefined || parts.length === 0 || wholes.length === 0) {
    throw new BenchError("PROGRAM_FAILED", "overheads_bench did not measure everything.", "See what it wrote.", { outputs });
  }
  const middle = (find: (line: Line) => boolean, field: string): number => median(runs.map((lines) => numberOf(lines.find(find), field)));
  return {
    parts: parts.map((part) => {
      const isIt = (line: Line): boolean => line.part === part;
      return { part, ns: middle(isIt, "ns"), bestNs: Math.min(...runs.map((lines) => numberOf(lines.find(isIt), "bestNs"))) };
    }),
    whole: wholes.map(({ ranks, bytes }) => {
      const isIt = (line: Line): boolean => "wholeUs" in line && line.ranks === ranks && line.bytes === bytes;
      const row = Object.fromEntries(wholeFields.map((field) => [field, middle(isIt, field)])) as Record<
        (typeof wholeFields)[number],
        number
      >;
      const { wrong, ...figures } = row;
      if (wrong !== 0) {
        throw new BenchError("WRONG_RESULTS", `${wrong} elements of an all-reduce of ${bytes} bytes are wrong.`, "Find out why first.", {
          row,
        });
      }
      return figures;
    }),
    noopRunsPerSecond: middle((line) => "noopRunsPerSecond" in line, "noopRunsPerSecond"),
    memory: Object.fromEntries(memoryFields.map((field) => [field, numberOf(memory, field)])) as unknown as RegisteredMemory,
  };
}

function numberOf(line: Line | undefined, field: string): number {
  const value = line?.[field];
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new BenchError("PROGRAM_FAILED", `overheads_bench wrote no number for ${field}.`, "See what it wrote.", { line });
}
