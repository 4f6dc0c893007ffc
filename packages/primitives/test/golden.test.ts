import { expect, it } from "vitest";
import { type BuildOptions, buildProgram, encodeProgram, programDigest } from "../src/index.js";

const programs: BuildOptions[] = [
  { collective: "all-reduce", algorithm: "direct-one-shot", ranks: 2 },
  { collective: "all-reduce", algorithm: "direct-one-shot", ranks: 2, inPlace: true },
  { collective: "all-reduce", algorithm: "direct-two-shot", ranks: 3, channels: 2 },
  { collective: "all-reduce", algorithm: "ring", ranks: 4, protocol: "ll" },
  { collective: "all-reduce", algorithm: "double-binary-tree", ranks: 5 },
  { collective: "all-gather", algorithm: "direct-ring", ranks: 3 },
  { collective: "reduce-scatter", algorithm: "all-pairs", ranks: 3, protocol: "ll128" },
  { collective: "reduce", algorithm: "binomial-tree", ranks: 6, root: 2 },
  { collective: "gather", algorithm: "binomial-tree", ranks: 5, root: 3 },
  { collective: "broadcast", algorithm: "direct", ranks: 2, root: 1 },
  { collective: "all-to-all", algorithm: "direct", ranks: 2 },
  { collective: "barrier", algorithm: "dissemination", ranks: 3 },
  { collective: "barrier", algorithm: "direct", ranks: 2 },
];

// The bytes are a contract with the engine and between versions: whoever changes them must mean to, and raise the version
// where old programs can no longer be read. `vitest run -u` writes the file anew.
it("encodes programs to the bytes on record", async () => {
  const records = Object.fromEntries(
    programs.map((options) => {
      const program = buildProgram(options);
      const digest = programDigest(program);
      const name = Object.values(options).join(" ");
      const rank1 = Buffer.from(encodeProgram(program, 1, digest)).toString("hex");
      return [name, { digest: digest.toString(16).padStart(16, "0"), rank1 }];
    }),
  );
  await expect(`${JSON.stringify(records, null, 2)}\n`).toMatchFileSnapshot("golden/programs.json");
});
