import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A place of its own for a command and all that it starts, which shows what they leave. */
export interface Place {
  /** To be the command's working directory, which what it starts has, too. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** What is there of processes, temporary files and shared memory that was not there before. */
  left(): string[];
  remove(): void;
}

export function makePlace(): Place {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "dfccl-place-")));
  const temporary = join(folder, "tmp");
  mkdirSync(temporary);
  const shared = (): string[] => readdirSync("/dev/shm").filter((name) => name.includes("dfccl"));
  const before = new Set(shared());
  return {
    folder,
    env: { TMPDIR: temporary },
    left: () => [
      ...processesIn(folder).map((pid) => `process ${pid}`),
      ...readdirSync(temporary),
      ...shared().filter((name) => !before.has(name)),
    ],
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function processesIn(folder: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`) === folder;
    } catch {
      return false; // it has ended, or is somebody else's
    }
  });
}

/** Waits until nothing is left, for as long as the test may take. */
export async function untilNothingIsLeft(place: Place): Promise<void> {
  while (place.left().length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
}
