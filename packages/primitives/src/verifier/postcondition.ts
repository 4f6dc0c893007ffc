import { checkList } from "../check-kind.js";
import { checkInteger } from "../check-number.js";
import { checkProgramFacts } from "../check-program.js";
import { takesReduceOp } from "../collective.js";
import { bufferChunks, type Program } from "../program.js";
import { PostconditionError } from "../program-errors.js";
import type { StepGraph } from "./graph.js";
import type { Mode } from "./memory.js";
import { positionOf } from "./messages.js";
import type { SymbolicExecution } from "./symbolic.js";
import { describeTerms, type InputTerm, type Value } from "./value.js";

export type { InputTerm } from "./value.js";

/**
 * What an output chunk must hold at the end: the reduction of these input chunks, each as often as it is listed.
 * `undefined`: anything.
 */
export type Postcondition = (rank: number, outputChunk: number) => readonly InputTerm[] | undefined;

/** What a collective promises about an output chunk. A custom one promises nothing by itself. */
export function postconditionOf(program: Program): Postcondition {
  checkProgramFacts(program);
  const { collective, chunksPerSegment, root = 0 } = program;
  const complete = new Map<number, readonly InputTerm[]>();
  const fromEveryRank = (chunk: number): readonly InputTerm[] => {
    const terms = complete.get(chunk) ?? program.ranks.map((_, rank) => ({ rank, chunk }));
    complete.set(chunk, terms);
    return terms;
  };
  const segmentOf = (chunk: number): number => Math.floor(chunk / chunksPerSegment);
  return (rank, output) => {
    checkInteger("rank", rank, 0);
    checkInteger("outputChunk", output, 0);
    const ownSegmentChunk = rank * chunksPerSegment + (output % chunksPerSegment);
    switch (collective) {
      case "all-reduce":
      case "reduce":
        return fromEveryRank(output);
      case "reduce-scatter":
        return fromEveryRank(ownSegmentChunk);
      case "all-gather":
      case "gather":
        return [{ rank: segmentOf(output), chunk: output % chunksPerSegment }];
      case "all-to-all":
        return [{ rank: segmentOf(output), chunk: ownSegmentChunk }];
      case "scatter":
        return [{ rank: root, chunk: ownSegmentChunk }];
      case "broadcast":
      case "send-recv":
        return [{ rank: root, chunk: output }];
      case "barrier":
      case "custom":
        return undefined;
    }
  };
}

/**
 * Compares every output chunk with what it should hold. Where the collective reduces, the value must also have been
 * finished once, for `avg`.
 * @returns whether every rank that ends up with the same reduction has computed it by the same expression, and so gets
 * the same bits whatever the data.
 * @throws {PostconditionError} for the first chunk that differs.
 */
export function checkPostcondition(
  program: Program,
  graph: StepGraph,
  execution: SymbolicExecution,
  mode: Mode,
  postcondition: Postcondition = postconditionOf(program),
): boolean {
  const mustFinish = takesReduceOp(program.collective) && program.ranks.length > 1;
  const expressions = new ExpressionsByReduction();
  for (let rank = 0; rank < program.ranks.length; rank += 1) {
    const chunks = bufferChunks(program, rank, "output");
    for (let chunk = 0; chunk < chunks; chunk += 1) {
      const expected = postcondition(rank, chunk);
      if (expected === undefined) continue;
      checkList("the postcondition", expected, "undefined or a list such as [{ rank: 0, chunk: 0 }]");
      const held = execution.output(rank, chunk);
      const isWritten = held?.writer !== undefined;
      const isRight =
        held !== undefined &&
        execution.values.isReductionOf(held.value, expected) &&
        held.value.finished === mustFinish &&
        (isWritten || !takesReduceOp(program.collective));
      if (!isRight) {
        const writer = graph.nodes[held?.writer ?? -1];
        const holds = describeHeld(execution, held?.value, isWritten);
        const wanted = describeTerms(expected) + (mustFinish ? ", finished" : "");
        throw new PostconditionError({ rank, chunk, holds, expected: wanted, mode }, writer && positionOf(writer));
      }
      expressions.add(expected, held.value.expression);
    }
  }
  return expressions.areUnique;
}

/** Sees whether each reduction is computed by one expression only. */
class ExpressionsByReduction {
  areUnique = true;
  private readonly numbers = new Map<string, number>();
  private readonly names = new Map<readonly InputTerm[], string>();

  add(reduction: readonly InputTerm[], expression: number): void {
    if (reduction.length < 2) return;
    const name = this.names.get(reduction) ?? reduction.map(({ rank, chunk }) => `${rank}:${chunk}`).join(" ");
    this.names.set(reduction, name);
    const known = this.numbers.get(name);
    if (known === undefined) this.numbers.set(name, expression);
    else if (known !== expression) this.areUnique = false;
  }
}

function describeHeld(execution: SymbolicExecution, value: Value | undefined, isWritten: boolean): string {
  if (value === undefined) return "nothing";
  return `${execution.values.describe(value)}${isWritten ? "" : ", never written"}`;
}
