import { type MachineFacts, type PeerFacts, type ReportHeader, reportHeader } from "dfccl/internal/measurement";
import { clone } from "./clone.js";

/** What has to stand beside a figure. @param output - of a native benchmark, in which it says what it found the machine to be capable of. */
export function headerOf(machine: MachineFacts, output: string, peers: PeerFacts = {}): ReportHeader {
  const [name, ...args] = process.argv.slice(2);
  const command = [`npm run bench:${name}`, ...(args.length > 0 ? ["--", ...args] : [])].join(" ");
  return { ...reportHeader(clone, machine, output, peers), command };
}
