import { existsSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { findRoot } from "../peers/native-programs.js";
import { NcclError } from "./nccl-error.js";

const fileName = "libnccl.so.2";
const remedy =
  "In a clone, with CUDA's toolkit: cmake --build build/release --target dfccl_nccl; elsewhere name the file (--library, or DFCCL_NCCL_LIBRARY).";

/**
 * Where dfccl's libnccl.so.2 is: as asked for, else beside the engine that DFCCL_ADDON names, else as built in a clone.
 * @throws {NcclError} NO_NCCL_LIBRARY
 */
export function findNcclLibrary(asked: string | undefined, environment: NodeJS.ProcessEnv = process.env): string {
  const wanted = asked ?? environment.DFCCL_NCCL_LIBRARY;
  const root = findRoot();
  const addon = environment.DFCCL_ADDON;
  const places = wanted
    ? [resolve(wanted)]
    : [
        ...(addon ? [join(dirname(resolve(addon)), "nccl", fileName)] : []),
        ...(root === undefined ? [] : [join(root, "build", "release", "with-gpu", fileName)]),
      ];
  const found = places.find((path) => existsSync(path));
  if (found === undefined) {
    throw new NcclError(
      "NO_NCCL_LIBRARY",
      `There is no ${fileName} of dfccl's${places.map((path) => ` at ${path}`).join(", nor")}.`,
      remedy,
      { places },
    );
  }
  const library = realpathSync(found);
  // The loader takes both for the end of a name.
  if (/[\s:]/.test(library)) {
    throw new NcclError("NO_NCCL_LIBRARY", `The path ${library} has a space or a colon in it.`, "Move the file to a path without.", {
      library,
    });
  }
  return library;
}
