import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { makeFolder } from "@dfccl/core";
import { CheckpointError } from "../errors.js";
import { type Checkpoint, decodeCheckpoint, encodeCheckpoint } from "./format.js";

/** What a store needs of a file system; a test hands in its own. */
export interface CheckpointFiles {
  makeFolder(path: string): void;
  /** Names of files in a folder; none where it isn't there. */
  list(folder: string): string[];
  read(path: string): Uint8Array;
  /** Returns when the bytes are on the disk. */
  write(path: string, bytes: Uint8Array): void;
  rename(from: string, to: string): void;
  remove(path: string): void;
}

export const nodeFiles: CheckpointFiles = {
  makeFolder,
  list(folder) {
    try {
      const entries = readdirSync(folder, { withFileTypes: true });
      return entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
    } catch {
      return [];
    }
  },
  read: (path) => readFileSync(path),
  write(path, bytes) {
    const file = openSync(path, "w");
    try {
      writeFileSync(file, bytes); // all of it: a disk that fills up takes a part and says nothing
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  },
  rename: (from, to) => renameSync(from, to),
  remove: (path) => rmSync(path, { force: true }),
};

const kept = 2;
const setAside = ".former";
const pattern = /^step-(\d{8})\.checkpoint$/;

/**
 * Checkpoints of one run in a folder, of which the last two are kept: should one be corrupt, there is another. Steps of a run
 * only rise, so a checkpoint of more steps than the one that is saved is another run's, or corrupt: it gets the ending
 * {@link setAside}, in place of one that has that name already, and this run is the one that is resumed.
 */
export class CheckpointStore {
  constructor(
    private readonly folder: string,
    private readonly files: CheckpointFiles = nodeFiles,
  ) {}

  /** Finds out before a run whether it can save. @throws {CheckpointError} where it can't. */
  probe(): void {
    const path = join(this.folder, ".probe");
    this.writing(() => {
      this.files.makeFolder(this.folder);
      this.files.write(path, new Uint8Array(1));
      this.files.remove(path);
    });
  }

  /** @returns where it lies. @throws {CheckpointError} where it can't be written. */
  save(checkpoint: Checkpoint): string {
    return this.writing(() => this.write(checkpoint));
  }

  private write(checkpoint: Checkpoint): string {
    this.files.makeFolder(this.folder);
    const path = join(this.folder, `step-${String(checkpoint.state.step).padStart(8, "0")}.checkpoint`);
    // Under another name first: what has its name is whole, whenever the machine stops.
    this.files.write(`${path}.partial`, encodeCheckpoint(checkpoint));
    this.files.rename(`${path}.partial`, path);
    const names = this.names();
    const own = names.indexOf(basename(path));
    for (const name of names.slice(0, Math.max(own, 0))) this.files.rename(join(this.folder, name), join(this.folder, name + setAside));
    for (const name of names.slice(own + kept)) this.files.remove(join(this.folder, name));
    return path;
  }

  /**
   * The newest checkpoint that is whole.
   * @param onCorrupt - told of each one passed over: it stays where it is.
   * @throws {CheckpointError} where there is none.
   */
  load(onCorrupt: (path: string, problem: string) => void = () => undefined): Checkpoint {
    const problems: string[] = [];
    for (const name of this.names()) {
      const path = join(this.folder, name);
      const found = this.read(path);
      if (typeof found !== "string") return found;
      problems.push(`${path}: ${found}`);
      onCorrupt(path, found);
    }
    throw new CheckpointError(
      problems.length === 0 ? `There is no checkpoint in ${this.folder}` : `No checkpoint is whole: ${problems.join("; ")}`,
      "Start without --resume, or give the folder of another run.",
      { folder: this.folder, problems },
    );
  }

  private read(path: string): Checkpoint | string {
    let file: Uint8Array;
    try {
      file = this.files.read(path);
    } catch (error) {
      return `it can't be read: ${reasonOf(error)}`;
    }
    return decodeCheckpoint(file);
  }

  private writing<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      throw new CheckpointError(
        `No checkpoint can be saved in ${this.folder}: ${reasonOf(cause)}`,
        "Give a folder that can be written to, on a disk with room.",
        { folder: this.folder },
        cause,
      );
    }
  }

  /** Newest first. */
  private names(): string[] {
    return this.files
      .list(this.folder)
      .filter((name) => pattern.test(name))
      .sort()
      .reverse();
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
