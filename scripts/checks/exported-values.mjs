// What the types of each package promise as a value is there when it is imported, and nothing else is: a class that is exported as a
// type only must not look as if there were something to call or to extend. By hand: node scripts/checks/exported-values.mjs
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "../lib/paths.mjs";

export async function exportedValues() {
  const sum = { passed: 0, failed: 0, details: "" };
  const entries = ["packages", "apps"].flatMap((parent) =>
    readdirSync(join(root, parent)).flatMap((name) => entriesOf(join(root, parent, name))),
  );
  const promised = promisedValues(entries.map(({ module }) => module));
  for (const [i, { name, module }] of entries.entries()) {
    const there = new Set(Object.keys(await import(pathToFileURL(module).href)));
    const wrong = [
      ...[...promised[i]].filter((value) => !there.has(value)).map((value) => `${name}: ${value} is declared, and missing at run time`),
      ...[...there].filter((value) => !promised[i].has(value)).map((value) => `${name}: ${value} is exported, and has no type`),
    ];
    if (wrong.length === 0) sum.passed += 1;
    else {
      sum.failed += 1;
      sum.details += `${wrong.join("\n")}\n`;
    }
  }
  return sum;
}

/** What of a package can be imported and has types: its name, and the built module. */
function entriesOf(folder) {
  const manifest = join(folder, "package.json");
  if (!existsSync(manifest)) return [];
  const { name, exports = {} } = JSON.parse(readFileSync(manifest, "utf8"));
  return Object.entries(exports)
    .filter(([, target]) => target?.types !== undefined)
    .map(([path, target]) => ({ name: join(name, path), module: join(folder, target.default) }));
}

/** The names of values that the types of each module promise, as TypeScript understands them. */
function promisedValues(modules) {
  // Imported late, because it is what the set-up installs.
  const typescript = createRequire(import.meta.url)("typescript");
  const { ModuleKind, ModuleResolutionKind, ScriptTarget, createProgram } = typescript;
  const folder = mkdtempSync(join(tmpdir(), "dfccl-exports-"));
  try {
    const file = join(folder, "imports.mts");
    writeFileSync(file, modules.map((module, i) => `import * as module${i} from ${JSON.stringify(module)};\n`).join(""));
    const options = { module: ModuleKind.NodeNext, moduleResolution: ModuleResolutionKind.NodeNext, target: ScriptTarget.ES2022 };
    const program = createProgram([file], { ...options, types: [], skipLibCheck: true });
    const checker = program.getTypeChecker();
    return program.getSourceFile(file).statements.map(({ importClause }) => {
      const namespace = checker.getTypeAtLocation(importClause.namedBindings.name);
      return new Set(checker.getPropertiesOfType(namespace).map(({ name }) => name));
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { details, ...counts } = await exportedValues();
  process.stdout.write(`${details}${JSON.stringify(counts)}\n`);
  process.exit(counts.failed ? 1 : 0);
}
