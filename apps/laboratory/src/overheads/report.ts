import { formatCountOf, formatTable, markdownTable, type OverheadsReport, reportPage, sectionsOf, wrap } from "dfccl/internal/measurement";

export function describeOverheads(report: OverheadsReport): string {
  return sectionsOf(report)
    .map(({ title, note, columns, rows }) => `${title}\n${formatTable(rows, columns)}${note ? `\n${wrap(note, undefined, 2)}` : ""}`)
    .join("\n\n");
}

export function overheadsMarkdown(report: OverheadsReport): string {
  const { header } = report;
  const sections = sectionsOf(report).map(
    ({ title, note, columns, rows }) => `## ${title}\n\n${markdownTable(columns, rows)}${note ? `\n\n${note}` : ""}\n`,
  );
  const how = `medians of ${formatCountOf(header.repetitions, "run")}; "best" is the fastest batch of all, for machines that never rest`;
  return reportPage("What submission, scheduling and completion add", header, [how], sections.join("\n"));
}
