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
 * @param types - packages of ambient types that the program names: `["node"]`, or none; without it, all that the project has.
 * @param resolutions - the ways of finding modules to check with; all unless given.
 * @param everyFile - whether to ask of others' declarations too, as the compiler does: those of TensorFlow.js alone take seconds.
 * @returns a line for each error in the project's own file or in a package of ours, or in every file.
 */
export function typeFaults(project, file, { types, resolutions, everyFile = false }) {
  // Imported late, because it is what the set-up installs.
  const typescript = createRequire(import.meta.url)("typescript");
  const chosen = settings.filter(({ moduleResolution }) => resolutions?.includes(moduleResolution) ?? true);
  return chosen.flatMap(({ module, moduleResolution }) => {
    const program = typescript.createProgram([join(project, file)], {
      module: typescript.ModuleKind[module],
      moduleResolution: typescript.ModuleResolutionKind[moduleResolution],
      target: typescript.ScriptTarget.ES2022,
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
      noEmit: true,
      ...(types === undefined ? {} : { types }),
      typeRoots: [join(project, "node_modules", "@types")],
    });
    const files = program
      .getSourceFiles()
      .filter((file) => !program.isSourceFileDefaultLibrary(file) && (everyFile || isOurs(file.fileName, project)));
    const diagnostics = files.flatMap((source) => [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]);
    return [...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics(), ...diagnostics].map((diagnostic) => {
      const where = diagnostic.file ? placeOf(diagnostic, project) : "options";
      const text = typescript.flattenDiagnosticMessageText(diagnostic.messageText, " ");
      return `${moduleResolution}, types ${types === undefined ? "all" : types.join() || "none"}: ${where}: ${text}`;
    });
  });
}

const isOurs = (fileName, project) =>
  fileName.includes("/node_modules/") ? /\/node_modules\/(?:@dfccl|dfccl)\//.test(fileName) : fileName.startsWith(project);

function placeOf({ file, start = 0 }, project) {
  const { line } = file.getLineAndCharacterOfPosition(start);
  return `${file.fileName.slice(project.length + 1)}:${line + 1}`;
}
