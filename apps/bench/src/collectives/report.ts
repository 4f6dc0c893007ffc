import { markdownTable } from "../peers/markdown.js";
import type { ReportHeader } from "../peers/report-header.js";
import { reportPage } from "../peers/report-page.js";
import { formatBytes, formatCountOf, formatSeconds, formatTable } from "../terminal/table.js";
import type { CollectiveRow } from "./measure.js";

export interface CollectivesReport {
  readonly header: ReportHeader & { readonly repetitions: number };
  readonly rows: readonly CollectiveRow[];
}

const columns = ["collective", "ranks", "size", "dfccl", "OpenMPI", "times faster"];

/** Of the goal: from here on OpenMPI should be behind everywhere. */
const goalBytes = 4096;

function formatRatio(ratio: number): string {
  return `${ratio.toFixed(ratio < 10 ? 1 : 0)}×`;
}

function cells({ collective, ranks, bytes, oursUs, openmpiUs, ratio }: CollectiveRow): string[] {
  return [collective, String(ranks), formatBytes(bytes), formatSeconds(oursUs / 1e6), formatSeconds(openmpiUs / 1e6), formatRatio(ratio)];
}

export function describeCollectives(rows: readonly CollectiveRow[]): string {
  return formatTable(rows.map(cells), columns);
}

/** What the rows show, with every exception. */
export function collectivesVerdict(rows: readonly CollectiveRow[]): string {
  const large = rows.filter(({ bytes }) => bytes >= goalBytes);
  if (large.length === 0) return "Nothing of 4 KiB or more was measured.";
  const behind = large.filter(({ ratio }) => ratio < 1);
  const ratios = large.map(({ ratio }) => ratio);
  const range = `from ${formatRatio(Math.min(...ratios))} to ${formatRatio(Math.max(...ratios))} as fast as OpenMPI`;
  const ahead = `From 4 KiB on dfccl is ${range}: ahead in ${large.length - behind.length} of ${large.length} cases.`;
  if (behind.length === 0) return ahead;
  const names = behind.map(
    ({ collective, ranks, bytes, ratio }) => `${collective} of ${formatBytes(bytes)} on ${ranks} (${formatRatio(ratio)})`,
  );
  return `${ahead} Behind: ${names.join(", ")}.`;
}

export function collectivesMarkdown({ header, rows }: CollectivesReport): string {
  const how = [
    "each operation is waited for before the next begins; one thread submits for all of our ranks, OpenMPI has a process a rank",
    `medians of ${formatCountOf(header.repetitions, "run")} a side, ours and OpenMPI's by turns`,
  ];
  const tables = [...new Set(rows.map(({ ranks }) => ranks))].map((ranks) => {
    const ofRanks = rows.filter((row) => row.ranks === ranks);
    return `## ${ranks} ranks\n\n${ratioTable(ofRanks)}\n`;
  });
  return reportPage(
    "Every collective: dfccl and OpenMPI on this machine",
    header,
    how,
    `Float32, sums where something is reduced, out of place; every result is checked bit by bit. How many times faster dfccl is:

${tables.join("\n")}
${collectivesVerdict(rows)}

## Times

${markdownTable(columns, rows.map(cells))}
`,
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
