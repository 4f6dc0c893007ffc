import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { writeOutput } from "../outputs/write-output.js";
import { reportPage } from "../report/page.js";
import { compareFiles, readSection } from "../report/read-section.js";
import { exitCodesText } from "../terminal/exit-codes.js";
import { say } from "../terminal/say.js";
import { formatBytes, formatCountOf } from "../terminal/table.js";
import { outputFileOf } from "./options.js";

interface ReportFlags {
  readonly output: string;
  readonly title: string;
}

export function addReportCommand(program: Command): void {
  program
    .command("report")
    .argument("<files...>", "what perf -J, overheads, stickiness or train --json wrote, or dfccl_gpu in *.jsonl")
    .summary("results as one HTML file to look at, print and pass on")
    .description(
      "Draws results: latency and bandwidth over size, preemptions and queue lengths, overheads, with machine and command. One " +
        "file, which needs no network; for dark rooms, paper and keyboards. Files of nccl-tests itself are read, too.",
    )
    .option("-o, --output <file>", "where to write it", outputFileOf(".html", ".htm"), "report.html")
    .option("--title <text>", "what stands above", "Collectives, measured")
    .addHelpText(
      "after",
      `
Examples:
  $ dfccl perf all_reduce -b 8 -e 64M -f 4 -g 4 --backend cpu,mpi -J ar.json
  $ dfccl report ar.json -o report.html
  $ dfccl report *.json --title "Before the release"

${exitCodesText({ 0: "written", 1: "failed", 2: "usage, or a file that is no result" })}`,
    )
    .action((files: readonly string[], { output, title }: ReportFlags) => {
      const single = files.map((file, i) => readSection(file, `section-${i + 1}`));
      const sections = [...compareFiles(files), ...single];
      const script = readFileSync(new URL("./report-client.js", import.meta.url), "utf8");
      const page = reportPage({ title, sections }, script);
      writeOutput(output, page);
      say(`${output}: ${formatCountOf(sections.length, "section")}, ${formatBytes(Buffer.byteLength(page))}.`);
    });
}
