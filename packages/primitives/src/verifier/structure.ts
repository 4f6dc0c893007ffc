import { checkProgram } from "../check-program.js";
import { inputSegmentsOf, outputSegmentsOf, takesReduceOp, takesRoot } from "../collective.js";
import { none32 } from "../layout.js";
import { limits } from "../limits.js";
import { opShapeOf } from "../op.js";
import { bufferChunks, type Program, type Step, touchesOtherRanks } from "../program.js";
import { BadProgramError, BadStepError, OutOfBoundsError, type StepPosition } from "../program-errors.js";
import { operandCount, operandsOf } from "./operands.js";

/**
 * Checks everything that can be seen without following data or messages: the facts of the program, and each step's
 * operands, indices and bounds.
 */
export function checkStructure(program: Program): void {
  checkProgram(program);
  checkFacts(program);
  let accesses = 0;
  forEachStep(program, (step, position) => {
    checkOperands(program, step, position);
    checkFreedom(program, step, position);
    checkReferences(program, step, position);
    const { reads, writes } = operandsOf(position.rank, step);
    for (const { rank, buffer, chunk } of [...reads, ...writes]) {
      const available = bufferChunks(program, rank, buffer);
      if (!isIndex(chunk) || chunk + step.count > available) {
        throw new OutOfBoundsError(position, `${buffer} of rank ${rank}`, chunk, step.count, available);
      }
    }
    accesses += step.count * (reads.length + writes.length);
    if (accesses > limits.chunkAccesses) {
      throw bad(`It makes more than ${limits.chunkAccesses} chunk accesses.`, "Use fewer, larger chunks.");
    }
  });
}

function forEachStep(program: Program, visit: (step: Step, position: StepPosition) => void): void {
  program.ranks.forEach(({ blocks }, rank) => {
    blocks.forEach(({ steps }, block) => {
      steps.forEach((step, index) => {
        visit(step, { rank, block, step: index });
      });
    });
  });
}

function checkFacts(program: Program): void {
  const { collective, root } = program;
  const rankCount = program.ranks.length;
  if (rankCount < 1 || rankCount > limits.ranks) throw bad(`It has ${rankCount} ranks.`, `Give 1 to ${limits.ranks}.`);
  if (collective === "send-recv" && rankCount !== 2) {
    throw bad(`send-recv has ${rankCount} ranks.`, "Give exactly two: the sender and the receiver.");
  }
  if (takesRoot(collective) ? root === undefined || !isIndex(root) || root >= rankCount : root !== undefined) {
    throw bad(`Its root is ${root} in a ${collective} of ${rankCount} ranks.`, "Give a rank where the collective has a root.");
  }
  if (!isIndex(program.chunksPerSegment) || program.chunksPerSegment < 1) {
    throw bad(`It cuts a segment into ${program.chunksPerSegment} chunks.`, "Give at least one.");
  }
  if (!isIndex(program.slotCount) || program.slotCount < 1 || program.slotCount > limits.slots) {
    throw bad(`Its connections have ${program.slotCount} slots.`, `Give 1 to ${limits.slots}.`);
  }
  if (!program.inPlace && !program.outOfPlace) {
    throw bad("It may run neither in place nor out of place.", "Set inPlace, outOfPlace or both.");
  }
  if (collective === "custom") {
    if (program.inPlace) throw bad("A custom collective can't run in place.", "State outOfPlace only.");
  } else if (
    program.inputSegments !== inputSegmentsOf(collective, rankCount) ||
    program.outputSegments !== outputSegmentsOf(collective, rankCount)
  ) {
    throw bad(
      `It has ${program.inputSegments} input and ${program.outputSegments} output segments.`,
      `Give ${inputSegmentsOf(collective, rankCount)} and ${outputSegmentsOf(collective, rankCount)}, as ${collective} has.`,
    );
  }
  let chunks = 0;
  program.ranks.forEach((rank, index) => {
    if (rank.blocks.length < 1 || rank.blocks.length > limits.blocks) {
      throw bad(`Rank ${index} has ${rank.blocks.length} blocks.`, `Give 1 to ${limits.blocks}; one may be empty.`);
    }
    const sizes = [rank.scratchChunks, program.inputSegments * program.chunksPerSegment, program.outputSegments * program.chunksPerSegment];
    if (!sizes.every((size) => isIndex(size) && size <= limits.bufferChunks)) {
      throw bad(`Its buffers have ${sizes.join(", ")} chunks.`, `Use at most ${limits.bufferChunks} chunks a buffer.`);
    }
    chunks += sizes.reduce((sum, size) => sum + size, 0);
    if (!program.usesDirect && touchesOtherRanks(rank, index)) {
      throw bad(`Rank ${index} touches other ranks' buffers without saying so.`, "Set usesDirect.");
    }
  });
  if (chunks > limits.chunks) throw bad(`It has ${chunks} chunks in all.`, `Use at most ${limits.chunks}.`);
}

function checkOperands(program: Program, step: Step, position: StepPosition): void {
  const shape = opShapeOf(step.op);
  const isMulti = step.op === "multiReduceCopy";
  const isSignal = step.count === 0;
  const fail = (what: string, remedy: string): never => {
    throw new BadStepError(position, `${step.op} ${what}.`, remedy, { op: step.op });
  };
  const expect = (name: string, present: boolean, wanted: boolean): void => {
    if (present !== wanted) fail(wanted ? `has no ${name}` : `takes no ${name}`, wanted ? "Give it one." : "Leave it out.");
  };

  if (!isIndex(step.count)) fail(`has a count of ${step.count}`, "Count in whole chunks.");
  if (step.op === "nop" ? step.count !== 0 : isSignal && step.op !== "send" && step.op !== "recv") {
    fail(`has a count of ${step.count}`, "Only send and recv may have 0 (a bare signal), and nop must.");
  }
  expect("src", step.src !== undefined, shape.hasSource && !isSignal);
  expect("dst", step.dst !== undefined, shape.hasDestination && !isSignal);
  expect("send connection", step.send !== undefined, shape.sends);
  expect("recv connection", step.recv !== undefined, shape.receives);
  expect("sources", (step.sources?.length ?? 0) > 0, isMulti);
  expect("destinations", (step.destinations?.length ?? 0) > 0, isMulti);
  if (isSignal) {
    expect("remote chunk for a bare signal", step.send?.remote !== undefined, false);
    expect("landing chunk for a bare signal", step.recv?.landing !== undefined, false);
  }
  if (step.finish === true && (operandCount(step) < 2 || !mayFinish(program))) {
    fail("can't finish a reduction", "Mark steps that reduce two or more values in a collective that reduces.");
  }
  for (const { buffer } of operandsOf(position.rank, step).writes) {
    if (buffer === "input") fail("writes an input buffer", "Write to `output`: in place it is the same memory.");
  }
}

/** Steps that run for all tiles at once can't wait for others tile by tile. */
function checkFreedom(program: Program, step: Step, position: StepPosition): void {
  if (!program.stepByStep) return;
  const waits = step.send !== undefined || step.recv !== undefined || (step.dependsOn ?? []).length > 0;
  if (waits) {
    throw new BadStepError(
      position,
      `${step.op} waits for other steps, in a program that goes step by step.`,
      "Leave stepByStep out, or the connections and dependencies.",
      { op: step.op },
    );
  }
}

function mayFinish(program: Program): boolean {
  return program.collective === "custom" || takesReduceOp(program.collective);
}

function checkReferences(program: Program, step: Step, position: StepPosition): void {
  const rankCount = program.ranks.length;
  const { rank, block } = position;
  const fail = (what: string, remedy: string): never => {
    throw new BadStepError(position, what, remedy);
  };
  for (const end of [step.send, step.recv]) {
    if (end === undefined) continue;
    if (!isIndex(end.peer) || end.peer >= rankCount || end.peer === rank) {
      fail(`its peer is rank ${end.peer}.`, `Name another rank below ${rankCount}.`);
    }
    if (!isIndex(end.channel)) fail(`its channel is ${end.channel}.`, "Number channels from 0.");
  }
  for (const list of [step.sources ?? [], step.destinations ?? []]) {
    if (list.length > limits.references) fail(`it has ${list.length} references.`, `Use at most ${limits.references}.`);
    for (const ref of list) {
      if (!isIndex(ref.rank) || ref.rank >= rankCount) fail(`it names rank ${ref.rank}.`, `Name ranks below ${rankCount}.`);
    }
  }
  for (const dependency of step.dependsOn ?? []) {
    const other = program.ranks[rank]?.blocks[dependency.block];
    if (dependency.block === block || other?.steps[dependency.step] === undefined) {
      fail(
        `it depends on block ${dependency.block} step ${dependency.step}.`,
        "Depend on existing steps of other blocks; steps of one block run in order anyway.",
      );
    }
  }
}

function isIndex(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value < none32;
}

function bad(what: string, remedy: string): BadProgramError {
  return new BadProgramError(what, remedy);
}
