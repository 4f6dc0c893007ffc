// Writes the version of native/package.json into dfccl.h; part of `npm run version`.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./lib/paths.mjs";

/** @returns the header with the macros DFCCL_MAJOR, DFCCL_MINOR and DFCCL_PATCH of a version, "1.2.3" or "1.2.3-next.0". */
export function withVersion(header, version) {
  const numbers = /^(\d+)\.(\d+)\.(\d+)/.exec(version)?.slice(1);
  if (!numbers) throw new Error(`"${version}" is no version: native/package.json has one as 1.2.3`);
  return ["MAJOR", "MINOR", "PATCH"].reduce((text, part, i) => {
    const macro = new RegExp(`^#define DFCCL_${part} .*$`, "m");
    if (!macro.test(text)) throw new Error(`dfccl.h doesn't define DFCCL_${part}`);
    return text.replace(macro, `#define DFCCL_${part} ${numbers[i]}`);
  }, header);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const path = join(root, "native", "include", "dfccl", "dfccl.h");
  const { version } = JSON.parse(readFileSync(join(root, "native", "package.json"), "utf8"));
  writeFileSync(path, withVersion(readFileSync(path, "utf8"), version));
}
