// What TypeScript says of the blocks of TypeScript on the pages.
import { join } from "node:path";
import ts from "typescript";
import { typescript as contexts } from "./page-contexts.mjs";
import { root } from "./paths.mjs";

const options = {
  target: ts.ScriptTarget.ES2022,
  lib: ["lib.es2023.d.ts", "lib.esnext.disposable.d.ts", "lib.esnext.array.d.ts"],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  types: ["node"],
  strict: true,
  noEmit: true,
  skipLibCheck: true,
};

/** The declarations that a block is read with. */
function contextOf({ page, text }) {
  const beginning = Object.keys(contexts[page] ?? {}).find((start) => text.startsWith(start));
  return { beginning, code: beginning === undefined ? "" : contexts[page][beginning] };
}

/** @returns keys of contexts that no block has, each as "page: beginning". */
export function idleContexts(blocks) {
  const used = new Set(blocks.map((block) => `${block.page}: ${contextOf(block).beginning}`));
  return Object.entries(contexts)
    .flatMap(([page, starts]) => Object.keys(starts).map((start) => `${page}: ${start}`))
    .filter((key) => !used.has(key));
}

/** @returns for each block what is wrong with it, as "line: message". All in one program: what they import is read once. */
export function typeFaults(blocks) {
  const texts = new Map(blocks.map((block, index) => [pathOf(block, index), `${contextOf(block).code}export {};\n${block.text}`]));
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.fileExists = (path) => texts.has(path) || fileExists(path);
  host.readFile = (path) => texts.get(path) ?? readFile(path);
  host.getSourceFile = (path, ...rest) =>
    texts.has(path) ? ts.createSourceFile(path, texts.get(path), ...rest) : getSourceFile.call(host, path, ...rest);
  host.getCurrentDirectory = () => root;
  const program = ts.createProgram([...texts.keys()], options, host);
  return blocks.map((block, index) => {
    const file = program.getSourceFile(pathOf(block, index));
    const before = contextOf(block).code.split("\n").length;
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map(({ start = 0, messageText }) => {
      const { line } = file.getLineAndCharacterOfPosition(start);
      return `${block.line + line - before + 1}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
    });
  });
}

/** Where it would find its imports: a package's page in the package; others where every package is installed, or TensorFlow.js. */
function pathOf({ page, text }, index) {
  const own = /^(?:packages|apps)\/[^/]+(?=\/README\.md$)/.exec(page)?.[0];
  const needsTensorFlow = contextOf({ page, text }).code.includes("@tensorflow/");
  return join(root, own ?? (needsTensorFlow ? "apps/train" : "apps/bench"), `page-${index}.ts`);
}
