import { accessSync, closeSync, constants, openSync, rmSync, statSync } from "node:fs";

/**
 * Whether a file can be written, tried before the work whose result it should take. What is in it stays; where there is none, none is
 * left. Permissions alone don't tell: root may write everywhere, and nobody into /proc.
 * @throws {Error} of the system.
 */
export function tryToWrite(path: string): void {
  const there = statSync(path, { throwIfNoEntry: false });
  // To open a pipe would wait for a reader.
  if (there !== undefined && !there.isFile()) accessSync(path, constants.W_OK);
  else closeSync(openSync(path, "a"));
  if (there === undefined) rmSync(path);
}
