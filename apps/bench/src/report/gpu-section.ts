import { PerfError } from "@dfccl/collective-tests";
import type { Chart, Section, Series } from "./model.js";

type Row = Readonly<Record<string, unknown>>;

/** The lines of a file of `cuda/run.sh`, if it is one: its first line is the command of `dfccl_gpu`. */
export function readGpuRows(text: string): readonly Row[] | undefined {
  const [first, ...rest] = text.split("\n");
  if (first === undefined || !/^\{"command": *"dfccl_gpu /.test(first)) return undefined;
  return [first, ...rest].flatMap((line) => {
    try {
      const row: unknown = JSON.parse(line);
      return typeof row === "object" && row !== null ? [row as Row] : [];
    } catch {
      return []; // of a run that was stopped, the last line may be half a line
    }
  });
}

/**
 * What `dfccl_gpu` measured of all-reduces: beside NCCL, alone on several numbers of blocks, or several at a time.
 * @param file - its name, for the reader.
 * @throws {PerfError} BAD_REPORT where it holds no times over sizes.
 */
export function gpuSection(rows: readonly Row[], id: string, file: string): Section {
  const { command, gpus, commit } = rows[0] ?? {};
  const of = (bench: string): Row[] => rows.filter((row) => row.bench === bench);
  const [beside, alone, outstanding] = [of("beside NCCL"), of("dfccl one at a time"), of("dfccl outstanding")];
  const charts = [
    chart(`${id}-latency`, "Time of one all-reduce at a time", micros, [
      line("dfccl", "dfccl", beside, "dfcclUs"),
      line("NCCL", "NCCL", beside, "ncclUs"),
      line("NCCL, back to back", "NCCL", beside, "ncclBackToBackUs", true),
    ]),
    chart(`${id}-busbw`, "Bus bandwidth", bandwidth, [
      line("dfccl", "dfccl", beside, "dfcclBusGBs"),
      line("NCCL", "NCCL", beside, "ncclBusGBs"),
      line("NCCL, back to back", "NCCL", beside, "ncclBackToBackBusGBs", true),
    ]),
    chart(`${id}-lanes`, "Time of one all-reduce at a time, by blocks", micros, byLanes(alone)),
    chart(`${id}-outstanding`, "Time an all-reduce, several at a time", micros, byDepth(outstanding)),
  ].filter(({ series }) => series.length > 0);
  if (charts.length === 0) {
    throw new PerfError("BAD_REPORT", `${file} holds no times over sizes.`, "Draw what dfccl_gpu compare, latency or pipeline wrote.", {
      file,
    });
  }
  return {
    id,
    title: `All-reduce on ${gpus} GPUs`,
    facts: [`command: ${command}`, `commit ${commit} (${file}); float32, sum, from submission to the last completion seen, medians`],
    charts,
  };
}

const micros = { name: "time", isLog: true, format: "micros" } as const;
const bandwidth = { name: "bus bandwidth", isLog: true, format: "gigabytesPerSecond" } as const;

function chart(id: string, title: string, y: Chart["y"], series: readonly Series[]): Chart {
  const x = { name: "size", isLog: true, format: "bytes" } as const;
  return { id, title, kind: "lines", x, y, series: series.filter(({ points }) => points.length > 0) };
}

/** Values of 0 have no logarithm: rates that were rounded to it are left out. */
function line(name: string, group: string, rows: readonly Row[], key: string, isDashed = false): Series {
  const points = rows.flatMap((row) => {
    const [size, value] = [Number(row.bytes), Number(row[key])];
    return size > 0 && value > 0 ? [[size, value] as const] : [];
  });
  return { name, group, points, isDashed };
}

function byLanes(rows: readonly Row[]): Series[] {
  const all = [...new Set(rows.map(({ lanes }) => Number(lanes)))].toSorted((a, b) => a - b);
  return all.map((lanes) => {
    const name = lanes === 1 ? "1 block" : `${lanes} blocks`;
    return line(
      name,
      name,
      rows.filter((row) => row.lanes === lanes),
      "medianUs",
    );
  });
}

function byDepth(rows: readonly Row[]): Series[] {
  const nameOf = ({ depth, ids }: Row): string => `${depth} outstanding${ids === 1 ? ", all of one id" : ""}`;
  return [...new Set(rows.map(nameOf))].map((name) =>
    line(
      name,
      "dfccl",
      rows.filter((row) => nameOf(row) === name),
      "usPerOperation",
    ),
  );
}
