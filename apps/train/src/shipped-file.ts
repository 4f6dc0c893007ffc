/**
 * Where a thread's program lies: beside this file, among the sources or in dist.
 * @param name - of a file in this folder, which the build knows as an entry.
 */
export function workerFile(name: string): URL {
  return new URL(`./${name}.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url);
}

/** A text that ships with the package. */
export function textFile(name: string): URL {
  return new URL(`../text/${name}`, import.meta.url);
}
