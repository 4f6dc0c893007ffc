import { constants, lstat, open, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { checkPath, checkText } from "@dfccl/primitives";

/**
 * Puts a text in the place of a file, whole or not at all. What a symbolic link leads to is replaced, not the link; a pipe or a device
 * takes the text, and stays.
 * @throws {InvalidArgumentError} for what is no path or text; {Error} of the system, where nothing can be written there.
 */
export async function writeWhole(path: string, text: string): Promise<void> {
  checkPath("path", path, "tuning.json");
  checkText("text", text, "a text");
  const there = await stat(path).catch(() => undefined);
  // A pipe that nobody reads is refused, and not waited for.
  if (there !== undefined && !there.isFile()) return writeFile(path, text, { flag: constants.O_WRONLY | constants.O_NONBLOCK });
  const target = await targetOf(path);
  const unfinished = `${target}.${process.pid}.tmp`;
  try {
    await writeFile(unfinished, text);
    await rename(unfinished, target);
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => undefined); // What a full disk took of it.
    throw error;
  }
}

async function targetOf(path: string): Promise<string> {
  const own = await lstat(path).catch(() => undefined);
  if (!own?.isSymbolicLink()) return path;
  // One that leads to nothing yet has a name at its end, too.
  await (await open(path, "a")).close();
  return realpath(path);
}
