// Fails where a runner leaves anything in the working tree: tests write into temporary folders.
import { entriesSince, readWorkingTree } from "../lib/working-tree.mjs";

/** @returns {look, check}: `look(name)` after each runner, `check()` when all are done, as a runner itself. */
export async function watchTree() {
  let last = await readWorkingTree();
  const left = [];
  return {
    async look(name) {
      if (last.obstacle) return;
      const now = await readWorkingTree();
      if (!now.obstacle) left.push(...entriesSince(last, now).map((entry) => `${name}: ${entry}`));
      last = now;
    },
    check() {
      if (last.obstacle) return { skipped: 1, details: `Nobody can say what the tests left in the tree: ${last.obstacle}.` };
      if (left.length === 0) return { passed: 1 };
      return { failed: 1, details: ["Left in the working tree, by the runner named before it:", ...left].join("\n") };
    },
  };
}
