import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";

/**
 * Starts a thread with a module. Where it, or the program that it loads, is TypeScript, tsx is loaded first: a thread doesn't
 * take a loader over from its parent on every Node.
 */
export function startThread(module: URL, workerData: unknown, program: URL = module): Worker {
  const typescript = [module, program].find(({ pathname }) => pathname.endsWith(".ts"));
  if (typescript === undefined) return new Worker(module, { workerData });
  const tsxFolder = pathToFileURL(createRequire(typescript).resolve("tsx/package.json"));
  const tsx = JSON.stringify(new URL("dist/esm/api/index.mjs", tsxFolder).href);
  const file = JSON.stringify(module.href);
  const entry = `import(${tsx}).then(({ register }) => { register(); return import(${file}); });`;
  return new Worker(entry, { eval: true, execArgv: [], workerData });
}
