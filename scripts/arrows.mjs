// Which package may import which. Arrows run downwards only; .dependency-cruiser.mjs enforces this table and
// CONTRIBUTING.md prints it (`node scripts/arrows.mjs`).
import { pathToFileURL } from "node:url";

/** Workspace folder → folders that it may import. */
export const arrows = {
  "packages/primitives": [],
  "packages/queues": [],
  "packages/scheduler": ["packages/primitives"],
  "packages/compiler": ["packages/primitives"],
  "packages/simulator": ["packages/primitives", "packages/scheduler"],
  "packages/core": ["packages/primitives", "packages/queues", "packages/scheduler"],
  "packages/actor": ["packages/primitives", "packages/core"],
  "packages/collective-tests": ["packages/primitives"],
  "apps/bench": [
    "packages/primitives",
    "packages/queues",
    "packages/scheduler",
    "packages/compiler",
    "packages/simulator",
    "packages/core",
    "packages/actor",
    "packages/collective-tests",
    "apps/train",
  ],
  "apps/laboratory": ["packages/compiler", "apps/bench"],
  "apps/train": ["packages/primitives", "packages/queues", "packages/core", "packages/actor"],
};

/** The table as text, one line a package. */
export function printedArrows() {
  const short = (folder) => folder.replace("packages/", "");
  const width = Math.max(...Object.keys(arrows).map((folder) => short(folder).length));
  return Object.entries(arrows)
    .map(([folder, targets]) => `${short(folder).padEnd(width)} → ${targets.map(short).join(", ") || "nothing"}`)
    .join("\n");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) console.log(printedArrows());
