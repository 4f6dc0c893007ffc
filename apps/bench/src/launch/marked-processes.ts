import { readdirSync, readFileSync } from "node:fs";

/** Carried by the environment of every process of a launch, and so by whatever those start. */
export const markName = "DFCCL_LAUNCH";

/** This user's processes that carry a mark, wherever in the tree they have got to; none where there is no /proc. */
export function markedProcesses(mark: string): number[] {
  const variable = `${markName}=${mark}`;
  return processIds().filter((pid) => environmentOf(pid).split("\0").includes(variable));
}

function processIds(): number[] {
  try {
    return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) && Number(name) !== process.pid ? [Number(name)] : []));
  } catch {
    return [];
  }
}

/** As the process was started with; nothing of somebody else's, and of one that has ended. */
function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1");
  } catch {
    return "";
  }
}

export interface EndingOptions {
  /** Between telling and making. */
  readonly graceMs: number;
  /** How often in a row none is found before none is left: one that is being started shows its environment a moment later. Default: 1. */
  readonly looks?: number;
}

const lookAgainMs = 50;
// One that even SIGKILL doesn't end, because the kernel holds it, is left.
const giveUpMs = 30_000;

/** Tells every process with a mark to end, and after a while makes it; waits until none is left. */
export async function endMarkedProcesses(mark: string, { graceMs, looks = 1 }: EndingOptions): Promise<void> {
  const told = new Set<number>();
  const began = performance.now();
  let quiet = 0;
  for (;;) {
    const isLate = performance.now() - began > graceMs;
    const found = markedProcesses(mark);
    quiet = found.length === 0 ? quiet + 1 : 0;
    if (quiet === looks || performance.now() - began > graceMs + giveUpMs) return;
    for (const pid of found) {
      if (!isLate && told.has(pid)) continue;
      told.add(pid);
      signalProcess(pid, isLate ? "SIGKILL" : "SIGTERM");
    }
    await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
  }
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended in this moment.
  }
}
