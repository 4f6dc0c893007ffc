import { collectiveCode, dataTypeCode, InvalidArgumentError, type Program, readArgument, reduceOpCode } from "@dfccl/primitives";
import { type CollectiveOptions, completeOptions } from "./collective-options.js";
import type { SignatureTable } from "./matching/signature-table.js";
import { callNative } from "./native-addon/native-error.js";
import { chooseProgram, type EncodedProgram, encodeOnce } from "./program-choice.js";
import type { RankEngine } from "./rank-engine.js";
import { Registration } from "./registration.js";
import { bufferSegments } from "./run-check.js";

/** Registers a collective on a rank: with its own program, or the one that is chosen from what all ranks agree on. */
export function registerOn(own: RankEngine, table: SignatureTable, options: CollectiveOptions): Registration {
  const { engine, number } = own;
  engine.requireOpen();
  const facts = completeOptions(options, number, engine.size);
  const { collective, dataType, count, root, ranks } = facts;
  const member = ranks.indexOf(number);
  const hosts = engine.hostsOf(ranks);
  const program =
    options.program !== undefined
      ? encodeOwn(options.program)
      : collective === "custom"
        ? missingProgram()
        : engine.backend === "cuda"
          ? undefined // The engine's own choice, which knows how many blocks pay on a GPU.
          : chooseProgram({
              collective,
              ranks: ranks.length,
              root,
              count,
              dataType,
              sharedMemory: facts.buffers === "allocated" && hosts === undefined,
              hosts,
            });
  const bytes = program === undefined ? new Uint8Array(0) : program.ranks[member];
  if (bytes === undefined) {
    throw new InvalidArgumentError("program", `one for ${program?.ranks.length} ranks`, `a program for ${ranks.length} ranks`);
  }
  const spec = {
    id: facts.id,
    collective: collectiveCode(collective),
    dataType: dataTypeCode(dataType),
    op: reduceOpCode(facts.op),
    count,
    countPerRun: facts.countPerRun,
    root,
    scale: facts.scale,
    priority: facts.priority,
    ranks: Uint32Array.from(ranks),
    program: bytes,
  };
  const handle = table.withRoom(() => callNative(() => engine.native.register(number, spec)));
  const customSegments = { input: options.program?.inputSegments ?? 1, output: options.program?.outputSegments ?? 1 };
  const segments = bufferSegments(collective, ranks.length, member, root, customSegments);
  engine.pump.kick();
  const placements = program ?? { ...callNative(() => engine.native.placements(number, handle)), usesDirect: true };
  return new Registration(own, handle, facts, segments, placements);
}

/** What throws when it is looked at has not the form of a program. */
function encodeOwn(program: Program): EncodedProgram {
  return readArgument("program", "one that buildProgram() or @dfccl/compiler made", () => encodeOnce(program));
}

function missingProgram(): never {
  throw new InvalidArgumentError("program", undefined, "the program that the custom collective runs");
}
