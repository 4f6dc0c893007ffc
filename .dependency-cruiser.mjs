// Arrows between packages (scripts/arrows.mjs), no cycles, nothing unresolved. Run: npx depcruise packages apps examples
import { arrows } from "./scripts/arrows.mjs";

const layers = Object.entries(arrows).map(([folder, targets]) => ({
  name: `arrows-of-${folder.replace("/", "-")}`,
  comment: `${folder} may import only: ${targets.join(", ") || "nothing of the workspace"}. See CONTRIBUTING.md.`,
  severity: "error",
  from: { path: `^${folder}/` },
  to: { path: "^(packages|apps)/", pathNot: `^(${[folder, ...targets].join("|")})/` },
}));

export default {
  forbidden: [
    ...layers,
    {
      name: "no-cycles",
      comment: "Types too: what two files need of each other has a file of its own.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    { name: "resolves", severity: "error", from: {}, to: { couldNotResolve: true, pathNot: "^dfccl\\.node$" } },
    {
      name: "packages-meet-at-their-exports",
      comment: "Another package's sources are its own business: import it by name.",
      severity: "error",
      from: { path: "^(?:packages|apps)/([^/]+)/" },
      to: { path: "^(?:packages|apps)/[^/]+/(?:src|test)/", pathNot: "^(?:packages|apps)/$1/" },
    },
    {
      name: "sources-dont-import-tests",
      severity: "error",
      from: { path: "/src/" },
      to: { path: "^(?:packages|apps)/[^/]+/(?:test|bench)/" },
    },
  ],
  options: {
    doNotFollow: { path: ["node_modules", "/dist/"] },
    exclude: { path: "/dist/.*\\.map$" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.base.json" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "types", "default"], mainFields: ["main", "types"] },
  },
};
