// `node ../../scripts/mark-types.mjs`, in a package's folder, after tsup: it bundles `export type { Rank }` of a class as a class, which
// whoever imports it finds missing at run time; and it keeps types of Node's that a user may not have.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const exportList = /^export \{([^}]*)\}/gm;
const nameOf = (item) => item.replace(/^.* as /, "").replace(/^type /, "");
const itemsOf = (list) =>
  list
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");

/** @returns the declarations with `type` before each exported name that the JavaScript of the same module doesn't export. */
export function markTypes(declarations, javascript) {
  const values = new Set([...javascript.matchAll(exportList)].flatMap(([, list]) => itemsOf(list).map(nameOf)));
  return declarations.replaceAll(exportList, (_, list) => {
    const items = itemsOf(list).map((item) => (item.startsWith("type ") || values.has(nameOf(item)) ? item : `type ${item}`));
    return `export { ${items.join(", ")} }`;
  });
}

/**
 * @returns the declarations with nothing in them that a project without @types/node lacks: how Node's console shows an object, which
 *   nobody calls, is left out, and what `using` needs of TypeScript's own library is named.
 */
export function withoutNode(declarations) {
  const rest = declarations
    .replaceAll(/^(?: +\/\*\*[^\n]*\*\/\n)? +\[inspect\.custom\]\([^\n]*\): string;\n/gm, "")
    .replace(/^import \{ [\w, ]+ \} from 'node:util';\n/m, "");
  const disposable = '/// <reference lib="esnext.disposable" />\n';
  return /\bSymbol\.(?:asyncD|d)ispose\b/.test(rest) && !rest.startsWith(disposable) ? disposable + rest : rest;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const folder = "dist";
  for (const name of readdirSync(folder).filter((file) => file.endsWith(".d.ts"))) {
    const module = join(folder, name.replace(/\.d\.ts$/, ".js"));
    // Chunks of declarations that several modules share have none.
    if (!existsSync(module)) continue;
    const path = join(folder, name);
    const declarations = readFileSync(path, "utf8");
    const marked = withoutNode(markTypes(declarations, readFileSync(module, "utf8")));
    if (marked !== declarations) writeFileSync(path, marked);
  }
}
