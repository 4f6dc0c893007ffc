import { line, plot } from "../../charts/chart.js";
import { formatBytes } from "../../terminal/table.js";
import { nanoseconds, type PresetReport } from "../preset-report.js";
import { bestTime, contests } from "../two-level-contenders.js";
import { levels } from "./two-level.js";

const tiles = Array.from({ length: 10 }, (_, i) => 2 ** (11 + i));
const sizes = [2, 16, 64].map((mib) => mib * 2 ** 20);
const instances = 4;

/** Time over the size of a tile: pipelining across the levels against the cost of a message (GC3, Figure 6). */
export function reportTiles(): PresetReport {
  const [hierarchical] = contests[0]?.contenders ?? [];
  if (hierarchical === undefined) throw new RangeError("There is no contest to take the program from.");
  const kernels = hierarchical.kernels(levels, instances);
  // From a tile as large as a chunk on nothing is pipelined, and larger ones are the same.
  const largest = (bytes: number): number => bytes / (levels.nodes * levels.cluster.gpusPerNode * instances);
  const rows = sizes.flatMap((bytes) =>
    tiles
      .filter((tileBytes) => tileBytes <= largest(bytes))
      .map((tileBytes) => ({
        bytes,
        tileBytes,
        ns: bestTime(() => kernels, levels, bytes, { instances: [instances], tileBytes: [tileBytes] }).ns,
      })),
  );
  const at = (bytes: number, tileBytes: number) => rows.find((row) => row.bytes === bytes && row.tileBytes === tileBytes);
  return {
    title: "Time over the size of a tile",
    lead: "Hierarchical all-reduce on two machines of eight GPUs, four instances; the last tile of each column is a whole chunk.",
    rows,
    tables: [
      {
        header: ["tile", ...sizes.map((bytes) => `of ${formatBytes(bytes)}`)],
        rows: tiles
          .filter((tileBytes) => sizes.some((bytes) => at(bytes, tileBytes)))
          .map((tileBytes) => [formatBytes(tileBytes), ...sizes.map((bytes) => nanosecondsOf(at(bytes, tileBytes)?.ns))]),
      },
    ],
    charts: [
      plot({
        name: "tiles",
        title: "Hierarchical all-reduce over the size of a tile",
        x: { name: "KiB of a tile", type: "log", logBase: 4, min: 1 },
        y: { name: "ms", type: "log" },
        series: sizes.map((bytes) =>
          line(
            formatBytes(bytes),
            rows.filter((row) => row.bytes === bytes).map(({ tileBytes, ns }): [number, number] => [tileBytes / 1024, ns / 1e6]),
          ),
        ),
      }),
    ],
  };
}

function nanosecondsOf(ns: number | undefined): string {
  return ns === undefined ? "–" : nanoseconds(ns);
}
