// What TypeScript says to somebody who uses the packages, in the settings that people use.
import { createRequire } from "node:module";
import { join } from "node:path";

const settings = [
  { module: "Node16", moduleResolution: "Node16" },
  { module: "NodeNext", moduleResolution: "NodeNext" },
  { module: "ESNext", moduleResolution: "Bundler" },
];

/**
 * Checks a file of a project, strictly, and the declarations that it reads of these packages.
 * @param types - packages of ambient types that the project has: `["node"]`, or none.
 * @returns a line for each error in the project's own file or in a package of ours; other packages' declarations are theirs.
 */
export function typeFaults(project, file, { types }) {
  // Imported late, because it is what the set-up installs.
  const typescript = createRequire(import.meta.url)("typescript");
  return settings.flatMap(({ module, moduleResolution }) => {
    const program = typescript.createProgram([join(project, file)], {
      module: typescript.ModuleKind[module],
      moduleResolution: typescript.ModuleResolutionKind[moduleResolution],
      target: typescript.ScriptTarget.ES2022,
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
      noEmit: true,
      types,
      typeRoots: [join(project, "node_modules", "@types")],
    });
    // Asked for file by file: those of TensorFlow.js alone take a minute.
    const files = program.getSourceFiles().filter(({ fileName }) => isOurs(fileName, project));
    const diagnostics = files.flatMap((source) => [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]);
    return [...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics(), ...diagnostics].map((diagnostic) => {
      const where = diagnostic.file ? placeOf(diagnostic, project) : "options";
      const text = typescript.flattenDiagnosticMessageText(diagnostic.messageText, " ");
      return `${moduleResolution}, types ${types.join() || "none"}: ${where}: ${text}`;
    });
  });
}

const isOurs = (fileName, project) =>
  fileName.includes("/node_modules/") ? /\/node_modules\/(?:@dfccl|dfccl)\//.test(fileName) : fileName.startsWith(project);

function placeOf({ file, start = 0 }, project) {
  const { line } = file.getLineAndCharacterOfPosition(start);
  return `${file.fileName.slice(project.length + 1)}:${line + 1}`;
}
