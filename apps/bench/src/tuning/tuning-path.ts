import os from "node:os";
import { join } from "node:path";

/** Where `dfccl tune` keeps its result unless told otherwise. */
export function defaultTuningPath(environment: Readonly<Record<string, string | undefined>> = process.env): string {
  // The XDG specification says to ignore relative paths.
  const configured = environment.XDG_CONFIG_HOME;
  const folder = configured?.startsWith("/") ? configured : join(os.homedir(), ".config");
  return join(folder, "dfccl", "tuning.json");
}
