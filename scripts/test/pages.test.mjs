// Every block of code on every page is checked by its kind, and every command is one that its program takes: dfccl's are read by dfccl's own
// command line; of others, what they name is there. Much of it is run besides: scripts/lib/page-kinds.mjs says by what.
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { allBlocks, blocksOf, mentionedCommands } from "../lib/page-blocks.mjs";
import { comparedBy, pagesOwnFiles, runWhole, shownOnly } from "../lib/page-exceptions.mjs";
import { faultsOf, kindOfUnnamed, shellFaults } from "../lib/page-kinds.mjs";
import { idleContexts, typeFaults } from "../lib/page-types.mjs";
import { parseOnly } from "../lib/parse-only.mjs";
import { root } from "../lib/paths.mjs";

const blocks = allBlocks().map((block) => ({ ...block, name: `${block.page}:${block.line}` }));
const typescript = blocks.filter(({ language }) => /^(?:ts|typescript)$/.test(language));
const isShown = ({ language, text }) => language === "" && kindOfUnnamed(text) === "shown";

describe("the blocks of every page", () => {
  it.each(blocks.filter((block) => !typescript.includes(block) && !isShown(block)))("$name, $language", async (block) => {
    expect(await faultsOf(block, parseOnly)).toEqual([]);
  });

  it("are right to TypeScript", () => {
    const faults = typeFaults(typescript).flatMap((list, i) => list.map((fault) => `${typescript[i].page}:${fault}`));
    expect(faults).toEqual([]);
    expect(typescript.length).toBeGreaterThan(20);
  });

  it("that are only shown are counted, with a reason", () => {
    const counted = {};
    for (const { page } of blocks.filter(isShown)) counted[page] = (counted[page] ?? 0) + 1;
    expect(counted).toEqual(Object.fromEntries(Object.entries(shownOnly).map(([page, [count]]) => [page, count])));
  });
});

it.each(mentionedCommands())("$page mentions $command, which is one", async ({ page, command }) => {
  // NAME and … stand for something else.
  const text = command.replace(/ (?:(?:NAME|FILE|COMMAND|PROGRAM|PART_OF_A_NAME|A\.json|FILE\.json)\b|…).*$/, "");
  expect(await shellFaults({ page, text, mayLackArguments: true }, parseOnly)).toEqual([]);
});

describe("the exceptions", () => {
  it("are needed", () => {
    expect(idleContexts(typescript)).toEqual([]);
    for (const [page, files] of Object.entries(pagesOwnFiles)) {
      for (const file of files) expect(readFileSync(join(root, page), "utf8")).toContain(file);
    }
  });

  it("name tests that are there, and that read the page", () => {
    for (const [page, test] of [...Object.entries(runWhole), ...Object.entries(comparedBy)])
      expect(readFileSync(join(root, test), "utf8")).toContain(basename(page));
  });
});

const fence = "```";
it.each([
  ["sh", "npx dfccl verify --nosuch ring.ts", "unknown option '--nosuch'"],
  ["sh", "npx dfccl verfy ring.ts", "unknown command 'verfy'"],
  ["sh", "npx dfccl simulate deadlock --preset table2", "is invalid"],
  ["sh", "npx dfccl perf all_reduce -b eight", "-b"],
  ["sh", "npx dfccl perf all_scatter", 'no collective test "all_scatter"'],
  ["sh", "npx dfccl launch -n 2 dfccl disorder --backends cuda", "unknown option '--backends'"],
  ["sh", "mpirun -n 2 npx dfccl disorder --iteration 3", "unknown option '--iteration'"],
  ["sh", "npm run sites", 'no script "sites"'],
  ["sh", "npm install @dfccl/cores", "isn't published"],
  ["sh", "node scripts/gone.mjs", "isn't in the repository"],
  ["sh", "node program.js", "program.js is neither"],
  ["sh", "cmake --build build/release --target dfccl_gone", 'no target "dfccl_gone"'],
  ["sh", "cmake --preset fast", 'no preset "fast"'],
  ["sh", "cmake -S native -B build/x -DDFCCL_CUDAS=ON", "no CMakeLists.txt reads DFCCL_CUDAS"],
  ["sh", "npx vitest run --project compiler nothing-like-it", "no test of compiler"],
  ["sh", "torchrun --nproc-per-node 2 examples/pytorch/training/fsdp2_gpt2.py --depth 2", "knows no --depth"],
  ["sh", 'cp "$(frobnicate)" x', 'knows "frobnicate"'],
  ["sh", "for i in 1 2; do wait", "end of file"],
  ["sh", "dfccl simulate schedule --preset valley | priority", 'knows "priority"'],
  ["", "$ dfccl boxing --shapes 3\nprinted", "unknown option '--shapes'"],
  ["", "npx dfccl bench mpi --repetitions 7", "unknown command 'mpi'"],
  ["", "npm run bench:mpi -- --repetition 7", "unknown option '--repetition'"],
  ["", "npm run bench:mpi --repetitions 7", "npm keeps --repetitions to itself"],
  ["", "npm run bench:collectives -- --mode caller", "unknown option '--mode'"],
  ["python", "with dfccl_torch.tag(1)\n  pass", "SyntaxError"],
  ["python", "dfccl_torch.gone()", "dfccl_torch has no gone"],
  ["python", "dfccl_nccl.gone()", "dfccl_nccl has no gone"],
  ["sh", "python -m dfccl_nccl start -- true", 'no command "start"'],
  ["sh", "python -m dfccl_nccl check --fast", "knows no --fast"],
  ["sh", "python -m dfccl_nccl run -- frobnicate", 'knows "frobnicate"'],
  ["c", "dfcclWaitForever(ctx);", "dfcclWaitForever"],
  ["json", "{", "JSON"],
  ["js", "1", "doesn't run it"],
  ["rust", "fn main() {}", 'how "rust" is checked'],
])("a broken block of %s is refused: %s", async (language, text, fault) => {
  const [block] = blocksOf(`${fence}${language}\n${text}\n${fence}\n`);
  const faults = await faultsOf({ page: "docs/gpus.md", ...block }, parseOnly);
  expect(faults.join("\n")).toContain(fault);
});

it("broken blocks of TypeScript are refused", () => {
  const broken = [
    ["const sum = rank.registers({ id: 7 });", "registers"],
    ["const sum = 1 +;", "Expression expected"],
    ['import { openWorlds } from "@dfccl/core";', "openWorlds"],
    ["nothing.such();", "nothing"],
  ];
  const faults = typeFaults(broken.map(([text]) => ({ page: "docs/guide.md", line: 7, text })));
  for (const [index, [, fault]] of broken.entries()) expect(faults[index].join("\n")).toMatch(new RegExp(`^8: .*${fault}`));
});

it("a fence that isn't closed is no block", async () => {
  const [block] = blocksOf(`${fence}sh\nnpm test\n`);
  expect(await faultsOf({ page: "README.md", ...block }, parseOnly)).toHaveLength(1);
});
