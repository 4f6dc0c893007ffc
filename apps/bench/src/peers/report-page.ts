import { describeHeader, type ReportHeader } from "./report-header.js";

/** A page for docs/benchmarks: what to type, where it was measured and how, then the figures. */
export function reportPage(title: string, header: ReportHeader, how: readonly string[], body: string): string {
  const facts = [...describeHeader(header), ...how].map((line) => `- ${line}`).join("\n");
  return `# ${title}\n\n\`\`\`\n${header.command}\n\`\`\`\n\n${facts}\n\n${body}`;
}
