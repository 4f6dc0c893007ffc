import { engine, type Scalar, type Tensor, type Variable } from "@tensorflow/tfjs-core";

/** The part of TensorFlow.js's tape that is read and rewritten here. */
interface TapeNode {
  readonly inputs: Readonly<Record<string, Tensor>>;
  readonly outputs: readonly Tensor[];
  gradient?: (dys: Tensor[]) => Record<string, () => Tensor>;
}

export interface GradientWatcher {
  /** A part of a variable's gradient, in the order in which TensorFlow.js adds them up. `isLast`: the sum is complete. */
  onContribution(variable: number, part: Tensor, isLast: boolean): void;
  /** A variable that the loss doesn't depend on; called before the backward pass. */
  onUnused(variable: number): void;
}

/**
 * A loss function for `variableGrads` that tells of each variable's gradient the moment the backward pass has computed it.
 *
 * TensorFlow.js has no hook for that: it returns all gradients at the end. But its backward pass walks a tape, last operation
 * first, and each operation's node carries the function that computes its inputs' gradients. When the forward pass has ended,
 * these functions are replaced, for the nodes that read a variable, by ones that look at the result before they hand it on.
 * The model, its layers and its losses notice nothing.
 * @throws {TypeError} where this version of TensorFlow.js keeps no such tape.
 */
export function watchGradients(loss: () => Scalar, variables: readonly Variable[], watcher: GradientWatcher): () => Scalar {
  return () => {
    const value = loss();
    const { activeTape } = engine().state as { activeTape?: TapeNode[] };
    if (!Array.isArray(activeTape))
      throw new TypeError("TensorFlow.js keeps no tape here: gradients can be watched in variableGrads only.");
    rewrite(nodesBehind(value, activeTape), new Map(variables.map((variable, index) => [variable.id, index])), watcher);
    return value;
  };
}

/** Nodes that the value depends on, in the order of the forward pass; the backward pass visits those of them that lead to a variable. */
function nodesBehind(value: Tensor, tape: readonly TapeNode[]): TapeNode[] {
  const needed = new Set([value.id]);
  const nodes = tape.toReversed().filter((node) => {
    if (!node.outputs.some(({ id }) => needed.has(id))) return false;
    for (const input of Object.values(node.inputs)) needed.add(input.id);
    return true;
  });
  return nodes.reverse();
}

function rewrite(nodes: readonly TapeNode[], indexOf: ReadonlyMap<number, number>, watcher: GradientWatcher): void {
  const seen = new Set<number>();
  // Forwards: a variable's first reader is the one that the backward pass visits last.
  for (const node of nodes) {
    const watched = new Map<string, { readonly index: number; readonly isLast: boolean }>();
    // Of several inputs of one node, the backward pass adds the last named one last.
    for (const [name, { id }] of Object.entries(node.inputs).reverse()) {
      const index = indexOf.get(id);
      if (index === undefined) continue;
      watched.set(name, { index, isLast: !seen.has(index) });
      seen.add(index);
    }
    const { gradient } = node;
    if (watched.size === 0 || gradient === undefined) continue;
    node.gradient = (dys) => {
      const parts = gradient(dys);
      for (const [name, { index, isLast }] of watched) {
        const compute = parts[name];
        if (compute === undefined) continue;
        parts[name] = () => {
          const part = compute();
          watcher.onContribution(index, part, isLast);
          return part;
        };
      }
      return parts;
    };
  }
  for (const index of indexOf.values()) if (!seen.has(index)) watcher.onUnused(index);
}
