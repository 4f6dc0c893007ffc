import { markdownTable } from "../peers/markdown.js";
import type { ReportHeader } from "../peers/report-header.js";
import { reportPage } from "../peers/report-page.js";
import { formatBytes, formatCountOf, formatSeconds, formatTable } from "../terminal/table.js";
import type { CollectiveRow } from "./measure.js";

export type PeerName = "OpenMPI" | "NCCL";

export interface CollectivesReport {
  readonly header: ReportHeader & { readonly repetitions: number; readonly peer: PeerName };
  readonly rows: readonly CollectiveRow[];
}

/** Of the goal: from here on the peer should be behind everywhere. */
const goalBytes: Readonly<Record<PeerName, number>> = { OpenMPI: 4096, NCCL: 0 };

/** More than these are no sentence. */
const mostNames = 30;

const columnsOf = (peer: PeerName): string[] => [
  "collective",
  "ranks",
  "size",
  "dfccl",
  peer,
  "times faster",
  "dfccl, bus GB/s",
  `${peer}, bus GB/s`,
];

/** To the hundredth where it says who is ahead. */
function formatRatio(ratio: number): string {
  return `${ratio.toFixed(ratio < 2 ? 2 : ratio < 10 ? 1 : 0)}×`;
}

function cells({ collective, ranks, bytes, oursUs, peerUs, ratio, oursGBs, peerGBs }: CollectiveRow): string[] {
  const bandwidths = [oursGBs, peerGBs].map((value) => value.toPrecision(3));
  return [
    collective,
    String(ranks),
    formatBytes(bytes),
    formatSeconds(oursUs / 1e6),
    formatSeconds(peerUs / 1e6),
    formatRatio(ratio),
    ...bandwidths,
  ];
}

export function describeCollectives(rows: readonly CollectiveRow[], peer: PeerName): string {
  return tablesOf(rows)
    .map(([title, of]) => `${title}\n${formatTable(of.map(cells), columnsOf(peer))}`)
    .join("\n\n");
}

/** What belongs into one table, under its title. */
function tablesOf(rows: readonly CollectiveRow[]): [string, CollectiveRow[]][] {
  return grouped(
    rows,
    ({ ranks, mode, hasThreads }) => `${ranks} ranks, ${mode}, ${hasThreads ? "a thread a rank" : "one thread drives all"}`,
  );
}

/** Where ranks were driven in several ways: each side in the way that is faster for it. */
function bestTablesOf(rows: readonly CollectiveRow[]): [string, CollectiveRow[]][] {
  const best = grouped(rows, ({ collective, ranks, mode, bytes }) => [collective, ranks, mode, bytes].join()).flatMap(([, same]) => {
    const [first] = same;
    if (first === undefined || same.length === 1) return [];
    const oursUs = Math.min(...same.map((row) => row.oursUs));
    const peerUs = Math.min(...same.map((row) => row.peerUs));
    return [{ ...first, oursUs, peerUs, ratio: peerUs / oursUs }];
  });
  return grouped(best, ({ ranks, mode }) => `${ranks} ranks, ${mode}, each side in the way that is faster for it`);
}

function grouped(rows: readonly CollectiveRow[], keyOf: (row: CollectiveRow) => string): [string, CollectiveRow[]][] {
  const groups = new Map<string, CollectiveRow[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row)) ?? [];
    groups.set(keyOf(row), group);
    group.push(row);
  }
  return [...groups];
}

/** What the rows show, with the exceptions. */
export function collectivesVerdict(rows: readonly CollectiveRow[], peer: PeerName): string {
  const least = goalBytes[peer];
  const large = rows.filter(({ bytes }) => bytes >= least);
  if (large.length === 0) return `Nothing of ${formatBytes(least)} or more was measured.`;
  const behind = large.filter(({ ratio }) => ratio < 1);
  const ratios = large.map(({ ratio }) => ratio);
  const range = `from ${formatRatio(Math.min(...ratios))} to ${formatRatio(Math.max(...ratios))} as fast as ${peer}`;
  const from = least > 0 ? `From ${formatBytes(least)} on dfccl` : "dfccl";
  const ahead = `${from} is ${range}: ahead in ${large.length - behind.length} of ${large.length} cases.`;
  if (behind.length === 0) return ahead;
  const names = behind.map(
    ({ collective, ranks, bytes, ratio }) => `${collective} of ${formatBytes(bytes)} on ${ranks} (${formatRatio(ratio)})`,
  );
  return names.length > mostNames ? `${ahead} Behind in ${names.length}, as the table shows.` : `${ahead} Behind: ${names.join(", ")}.`;
}

export function collectivesMarkdown({ header, rows }: CollectivesReport): string {
  const { peer } = header;
  const how = [
    peer === "NCCL" ? "one process on both sides, NVLink multicast off" : "OpenMPI has a process a rank",
    "one at a time: each operation is waited for before the next begins; back to back: all at the end",
    `medians of ${formatCountOf(header.repetitions, "run")} a side, ours and ${peer}'s by turns`,
  ];
  const ratios = [...bestTablesOf(rows), ...tablesOf(rows)].map(
    ([title, of]) => `## ${title}\n\n${ratioTable(of)}\n\n${collectivesVerdict(of, peer)}\n`,
  );
  const times = tablesOf(rows).map(([title, of]) => `## Times: ${title}\n\n${markdownTable(columnsOf(peer), of.map(cells))}\n`);
  return reportPage(
    `Every collective: dfccl and ${peer} on this machine`,
    header,
    how,
    `Float32, sums where something is reduced, out of place; every result is checked bit by bit. How many times faster dfccl is:

${[...ratios, ...times].join("\n")}`,
  );
}

/** Collectives down, sizes along. Rows of one wanted size differ by the bytes that their collectives make of it. */
function ratioTable(rows: readonly CollectiveRow[]): string {
  const nearest = (bytes: number): number => 2 ** Math.round(Math.log2(Math.max(bytes, 1)));
  const sizes = [...new Set(rows.map(({ bytes }) => nearest(bytes)))].filter((bytes) => bytes >= 8).sort((a, b) => a - b);
  const names = [...new Set(rows.map(({ collective }) => collective))];
  const of = (name: string, size: number): string => {
    const row = rows.find(({ collective, bytes }) => collective === name && nearest(bytes) === size);
    return row === undefined ? "" : formatRatio(row.ratio);
  };
  return markdownTable(
    ["", ...sizes.map(formatBytes)],
    names.map((name) => [name, ...sizes.map((size) => of(name, size))]),
  );
}
