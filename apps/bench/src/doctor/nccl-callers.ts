import { createReadStream, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { runProgram } from "../nccl/run-in-place.js";
import type { Finding } from "./finding.js";

/** What the loader did in one process, as far as NCCL is concerned. */
interface Process {
  readonly id: string;
  program: string;
  /** Files of NCCL's name that were loaded. */
  readonly libraries: Set<string>;
  /** Of a file with functions of NCCL's that were looked up there, their names, and by whom. */
  readonly calls: Map<string, { readonly functions: Set<string>; readonly callers: Set<string> }>;
  /** Functions that were looked up and found nowhere. */
  readonly missing: Set<string>;
}

const noneLoaded: Finding = {
  what: "NCCL",
  state: "missing",
  detail: "no process has loaded a libnccl",
  remedy: "give doctor what is to call NCCL, and let it come as far as its first communicator",
};

const isNccl = (path: string): boolean => /^libnccl\.so/.test(basename(path));

/**
 * Runs a program, and says of it and of all that it starts which libnccl they load, and who calls what in it.
 * @returns the program's exit code, and a finding for each process that has to do with NCCL.
 * @throws {NcclError} NO_PROGRAM
 */
export async function watchNcclCallers(name: string, args: readonly string[]): Promise<{ code: number; findings: readonly Finding[] }> {
  const folder = mkdtempSync(join(tmpdir(), "dfccl-doctor-"));
  try {
    // The loader's own account, a file for each process.
    const code = await runProgram(name, args, { LD_DEBUG: "libs,bindings", LD_DEBUG_OUTPUT: join(folder, "loader") });
    const findings: Finding[] = [];
    for (const file of readdirSync(folder)) {
      const process = await readAccount(join(folder, file), file.split(".").at(-1) ?? "");
      if (process.libraries.size > 0 || process.missing.size > 0) findings.push(describe(process));
    }
    return { code, findings: findings.length > 0 ? findings : [noneLoaded] };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function readAccount(file: string, id: string): Promise<Process> {
  const found: Process = { id, program: "", libraries: new Set(), calls: new Map(), missing: new Set() };
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const program = /\tinitialize program: (.*)/.exec(line)?.[1];
    if (program !== undefined) found.program = program;
    const loaded = /\tcalling init: (.*)/.exec(line)?.[1];
    if (loaded !== undefined && isNccl(loaded)) found.libraries.add(loaded);
    const missing = /undefined symbol: (p?nccl[A-Z]\w*)/.exec(line)?.[1];
    if (missing !== undefined) found.missing.add(missing);
    const [, caller, owner, name] = /\tbinding file (.*) \[\d+\] to (.*) \[\d+\]: normal symbol `(p?nccl[A-Z]\w*)'/.exec(line) ?? [];
    if (caller === undefined || owner === undefined || name === undefined) continue;
    const calls = found.calls.get(owner) ?? { functions: new Set(), callers: new Set() };
    found.calls.set(owner, calls);
    calls.functions.add(name);
    // By name at run time (dlsym), it is looked up in the library itself.
    calls.callers.add(caller === owner ? "name" : basename(caller));
  }
  return found;
}

function describe({ id, program, libraries, calls, missing }: Process): Finding {
  const called = [...calls].filter(([path]) => isNccl(path));
  const parts = called.map(
    ([path, { functions, callers }]) =>
      `${path}, which is ${ownerOf(path)}: ${functions.size} functions called by ${[...callers].join(", ")}`,
  );
  for (const path of libraries) if (!calls.has(path)) parts.push(`${path}, which is ${ownerOf(path)}: nothing is called in it`);
  const lacks = missing.size > 0 ? `; found nowhere: ${[...missing].join(", ")}` : "";
  const finding = { what: `process ${id}`, detail: `${basename(program)} has ${parts.join("; ") || "no libnccl"}${lacks}` };
  if (called.length > 1) {
    const remedy = "two libraries are called, and neither knows the other's communicators: see LD_PRELOAD and LD_LIBRARY_PATH";
    return { ...finding, state: "failed", remedy };
  }
  if (missing.size === 0) return { ...finding, state: "ok" };
  // Who asks for one by name may do without it.
  return { ...finding, state: "missing", remedy: "dfccl run-nccl -- PROGRAM gives it a libnccl that has all of NCCL 2.30's functions" };
}

/** By what only dfccl's file says. */
function ownerOf(path: string): string {
  try {
    return readFileSync(path).includes("DFCCL_JOIN_TIMEOUT") ? "dfccl's" : "not dfccl's";
  } catch {
    return "gone by now";
  }
}
