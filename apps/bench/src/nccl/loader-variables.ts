import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { NcclError } from "./nccl-error.js";

const auditName = "libdfccl_nccl_audit.so";
// Before, each call through a table of the loader's took longer in all of a program that was audited (glibc's bug 15533).
const auditSince = [2, 35] as const;

/**
 * What a program's environment has to say, so that it loads the library wherever it looks for NCCL: LD_AUDIT where the library has
 * what that takes beside it and the system's C library bears it, else LD_PRELOAD; DFCCL_NCCL_LOADER chooses.
 * @param glibc - the version of the system's C library; undefined where that is another one.
 * @throws {NcclError} NO_SUCH_LOADER
 */
export function loaderVariables(
  library: string,
  environment: NodeJS.ProcessEnv = process.env,
  glibc: string | undefined = glibcVersion(),
): Record<string, string> {
  const audit = join(dirname(library), auditName);
  const isThere = existsSync(audit) && !/[\s:]/.test(audit);
  const choice = environment.DFCCL_NCCL_LOADER || (isThere && isNewEnough(glibc) ? "audit" : "preload");
  const inFront = (path: string, before: string | undefined): string => (before ? `${path}:${before}` : path);
  if (choice === "preload") return { LD_PRELOAD: inFront(library, environment.LD_PRELOAD) };
  if (choice === "audit" && isThere) {
    return { LD_AUDIT: inFront(audit, environment.LD_AUDIT), DFCCL_NCCL_LIBRARY: library };
  }
  const why = choice === "audit" ? `there is no ${audit}` : "that is none of its values";
  const remedy = "Allowed: audit, where the target dfccl_nccl was built, and preload; or leave it out.";
  throw new NcclError("NO_SUCH_LOADER", `DFCCL_NCCL_LOADER is ${choice}, and ${why}.`, remedy, { loader: choice, audit });
}

function isNewEnough(glibc: string | undefined): boolean {
  const [major = 0, minor = 0] = (glibc ?? "").split(".").map(Number);
  return major > auditSince[0] || (major === auditSince[0] && minor >= auditSince[1]);
}

function glibcVersion(): string | undefined {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  return header.glibcVersionRuntime;
}
