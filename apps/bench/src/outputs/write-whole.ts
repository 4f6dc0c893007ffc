import { realpath, rename, stat, writeFile } from "node:fs/promises";

/**
 * Puts a text in the place of a file, whole or not at all. What a symbolic link leads to is replaced, not the link; a pipe or a device
 * takes the text, and stays.
 */
export async function writeWhole(path: string, text: string): Promise<void> {
  const there = await stat(path).catch(() => undefined);
  if (there !== undefined && !there.isFile()) return writeFile(path, text);
  const target = there === undefined ? path : await realpath(path);
  const unfinished = `${target}.${process.pid}.tmp`;
  await writeFile(unfinished, text);
  await rename(unfinished, target);
}
