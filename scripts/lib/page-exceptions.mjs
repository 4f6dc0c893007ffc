// What of the pages' blocks can't be looked up in the repository, each with its reason. scripts/test/pages.test.mjs fails where one is
// no longer needed.

/** Files that a page's reader has, or is told to write. */
export const pagesOwnFiles = {
  "docs/nccl.md": ["train.py"],
  "docs/processes/README.md": ["program.js"],
  "docs/processes/environment.md": ["program.js"],
  "docs/processes/kubernetes.md": ["train.js"],
  "docs/processes/machines.md": ["program.js"],
  "docs/processes/mpirun.md": ["train.js", "train.c", "./train"],
  "docs/processes/slurm.md": ["train.js"],
  "docs/guide.md": ["build/any-order", "first.mts"],
  "python/dfccl-nccl/README.md": ["train.py"],
};

/** Pages whose blocks are all run, in their order, by a check that compares what they print. */
export const runWhole = {
  "docs/c.md": "scripts/checks/c-library.mjs",
};

/** Tests that compare what a page shows a program to print, where that is not the test of a package's README. */
export const comparedBy = {
  "docs/c.md": "scripts/checks/c-library.mjs",
  "docs/collectives-of-your-own.md": "apps/bench/test/programs/guide.test.ts",
  "docs/pytorch.md": "python/dfccl-torch/tests/test_source_lines.py",
};

/** Blocks in no language that hold no command: how many a page has, and why nothing of them is run. */
export const shownOnly = {
  "CONTRIBUTING.md": [1, "the arrows between packages, which the runner `arrows` compares with scripts/arrows.mjs"],
  "README.md": [1, "what `npm start` printed on one machine: times and seeds are others each time"],
  "docs/actors.md": [1, "a drawing"],
  "docs/architecture/README.md": [1, "the folders, which architecture.test.mjs compares with those that are there"],
  "docs/decisions/0026-folders-of-the-native-half-point-one-way.md": [1, "what a commit that is not kept touched"],
  "docs/processes/missing-rank.md": [4, "messages of ranks that are late, lost or cut off, shortened by hand"],
  "docs/simulator.md": [8, "tables of `dfccl simulate`, which take up to hours"],
  "native/src/daemon/README.md": [1, "a drawing"],
  "packages/queues/README.md": [4, "drawings of memory"],
};
