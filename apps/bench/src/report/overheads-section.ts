import { type OverheadsReport, sectionsOf } from "../overheads/overheads-report.js";
import { describeHeader } from "../peers/report-header.js";
import { formatBytes } from "../terminal/table.js";
import type { Chart, Section } from "./model.js";

/** What `npm run bench:overheads -- --json FILE` wrote: each phase, the completion queues beside each other, whole runs, memory. */
export function overheadsSection(report: OverheadsReport, id: string): Section {
  const [phases, queues] = sectionsOf(report);
  const { memory, whole, header } = report;
  const numbers = (rows: readonly (readonly string[])[], column: number): (number | null)[] =>
    rows.map((row) => {
      const value = Number(row[column]?.replaceAll(",", ""));
      return Number.isFinite(value) ? value : null;
    });
  const bars = (name: string, title: string, rows: readonly (readonly string[])[], columns: readonly string[]): Chart => ({
    id: `${id}-${name}`,
    title,
    kind: "bars",
    x: { name: "", format: "text", categories: rows.map(([what = ""]) => what) },
    y: { name: "time", format: "nanos" },
    series: columns.map((column, i) => ({ name: column, group: column, points: numbers(rows, i + 1) })),
  });
  return {
    id,
    title: "Overheads",
    facts: [
      `command: ${header.command}`,
      ...describeHeader(header),
      `${formatBytes(memory.bytesPerRankAndCollective)} a rank and registered collective, with ${memory.registered} on ${memory.ranks} ranks`,
    ],
    charts: [
      bars("phases", "What a run passes through", phases?.rows ?? [], ["median", "best batch"]),
      bars("queues", "Completion queues", queues?.rows ?? [], ["write a CQE", "poll a CQE"]),
      {
        id: `${id}-whole`,
        title: "All-reduce: the engine, and the same program in a bare loop",
        kind: "lines",
        x: { name: "size", isLog: true, format: "bytes" },
        y: { name: "time", isLog: true, format: "micros" },
        series: [...new Set(whole.map(({ ranks }) => ranks))].flatMap((ranks) => {
          const rows = whole.filter((row) => row.ranks === ranks);
          return [
            { name: `engine, ${ranks} ranks`, group: "engine", points: rows.map(({ bytes, wholeUs }) => [bytes, wholeUs] as const) },
            {
              name: `bare loop, ${ranks} ranks`,
              group: "bare loop",
              isDashed: true,
              points: rows.map(({ bytes, bareUs }) => [bytes, bareUs] as const),
            },
          ];
        }),
      },
    ],
  };
}
