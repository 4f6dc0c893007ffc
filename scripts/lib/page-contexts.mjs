// What stands around the parts of programs that pages show: declared here, so that a compiler can read them. Of each page, what a block
// begins with, and what it takes for granted. A whole program needs none.

const of = (names, module) => `import { ${names} } from "${module}";\n`;
const rank = 'declare const rank: import("@dfccl/core").Rank;\n';
const buffers = "declare const [x, y, z, w]: Float32Array<ArrayBuffer>[];\n";
const collectives = (...names) => names.map((name) => `declare let ${name}: import("@dfccl/core").RegisteredCollective;\n`).join("");

export const typescript = {
  "docs/guide.md": {
    "const group =": `${rank}${buffers}declare const colour: number, key: number;\n`,
    "await rank.batch": `${rank}${buffers}declare const left: number, right: number;\ndeclare const group: import("@dfccl/core").Group;\n`,
    "const sum =": rank + buffers,
    "const sums =": rank + buffers,
    "const batch =": rank + buffers + collectives("gradients", "parameters"),
    "await sum.run(x, y": buffers + collectives("sum"),
    "import { openReducer": `${rank}declare const parameters: readonly { readonly size: number }[];
declare function onGradient(hook: (i: number, data: Float32Array) => void): void;
declare function readyForUpdate(i: number): void;
`,
    "const ring =": of("buildProgram, verifyProgram", "@dfccl/primitives") + rank,
  },
  "docs/collectives-of-your-own.md": {
    "const { program } =": `${of("compile, type defineProgram", "@dfccl/compiler")}${rank}${buffers}declare const ring: ReturnType<typeof defineProgram>;\n`,
  },
  "docs/processes/missing-rank.md": {
    "try {": `${of("RankLostError", "@dfccl/core")}declare const rank: import("@dfccl/core").JoinedRank;
declare const nextId: number, count: number;
${buffers}${collectives("gradients")}`,
  },
  "docs/training.md": {
    "const optimizer =": `${of("distributed, type Communicator", "@dfccl/train")}${of("train", "@tensorflow/tfjs-core")}declare const communicator: Communicator;\n`,
  },
  "apps/train/README.md": {
    "const optimizer =": `${of("distributed, type Communicator", "@dfccl/train")}import * as tf from "@tensorflow/tfjs-core";
declare const communicator: Communicator;
declare const model: import("@tensorflow/tfjs-layers").LayersModel;
`,
  },
};

/** Around parts of functions in C. */
export const c = {
  "docs/gpus.md": "void *gradients, *sums, *weights, *stream; dfcclRankCtx_t ctx;",
  "docs/processes/missing-rank.md": "dfcclRankCtx_t ctx;",
};
