import { randomUUID } from "node:crypto";
import { closeSync, openSync, type PathOrFileDescriptor, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { temporaryFolder } from "../outputs/temporary-folder.js";

/** What a program is to read, for as long as it runs. */
export interface InputFiles extends Disposable {
  /** Takes a file. @returns the path by which the program reads it. */
  add(name: string, write: (to: PathOrFileDescriptor) => void): string;
  /** That the program is to inherit, from number 3 on. */
  readonly descriptors: readonly number[];
}

const firstInherited = 3;

/** Files without names, for a program that this process starts itself: nothing is left of them, whatever ends the two. */
export function inheritedFiles(): InputFiles {
  const descriptors: number[] = [];
  return {
    descriptors,
    add(name, write) {
      const path = join(tmpdir(), `dfccl-${name}-${randomUUID()}`);
      const descriptor = openSync(path, "wx+", 0o600);
      unlinkSync(path);
      descriptors.push(descriptor);
      write(descriptor);
      return `/proc/self/fd/${firstInherited + descriptors.length - 1}`;
    },
    [Symbol.dispose]: () => {
      for (const descriptor of descriptors.splice(0)) closeSync(descriptor);
    },
  };
}

/** Files in a folder of their own, for programs that others start, as mpirun does. */
export function namedFiles(): InputFiles {
  const folder = temporaryFolder("dfccl-perf");
  return {
    descriptors: [],
    add(name, write) {
      const path = join(folder.path, name);
      write(path);
      return path;
    },
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}
