import {
  add,
  argMax,
  cast,
  customGrad,
  equal,
  logSumExp,
  matMul,
  mean,
  mul,
  oneHot,
  reshape,
  rsqrt,
  type Scalar,
  sigmoid,
  slice,
  softmax,
  square,
  squeeze,
  sub,
  sum,
  type Tensor,
  tensor,
  tensor2d,
  transpose,
} from "@tensorflow/tfjs-core";
import { prepareText } from "../data/sonnets.js";
import { type Cut, newParameter, type Parameter } from "./parameter.js";
import type { Stage, StagePlan, Task } from "./task.js";

const characters = 128;
/** Characters that the model sees at once. */
const window = 32;
const width = 32;
const heads = 4;
const headWidth = width / heads;
const layers = 4;

/** A small GPT over characters, cut as Megatron-LM cuts: columns, then rows, with one sum at the end of each half layer. */
export const gpt: Task = {
  defaults: { steps: 300, globalBatch: 16, learningRate: 0.003, optimizer: "adam" },
  divisible: { tp: heads, pp: layers },
  prepare: (folder) => prepareText(folder, window + 1),
  decoder: "text",
  build: buildStage,
};

function buildStage(plan: StagePlan): Stage {
  const { stage, parallel } = plan;
  const isFirst = stage === 0;
  const isLast = stage === parallel.pp - 1;
  const perStage = layers / parallel.pp;
  const make = new Parameters(plan);
  const embedding = isFirst ? new Embedding(make) : undefined;
  const blocks = Array.from({ length: perStage }, (_, i) => new Block(make, `h${stage * perStage + i}`, plan));
  const head = isLast ? new Head(make) : undefined;
  return {
    parameters: make.list,
    outputShape: (records) => [records, window, width],
    forward(batch, records, input) {
      const start = embedding?.forward(inputs(batch, records)) ?? input;
      if (start === undefined) throw new TypeError("A stage behind the first needs its input.");
      const hidden = blocks.reduce((x, block) => block.forward(x), start);
      return head?.forward(hidden) ?? hidden;
    },
    loss(logits, batch, records) {
      const truth = cast(oneHot(cast(targets(batch, records), "int32"), characters), "float32");
      return mean(sub(logSumExp(logits, 2), sum(mul(logits, truth), 2))) as Scalar;
    },
    accuracy: (logits, batch, records) =>
      mean(cast(equal(argMax(logits, 2), cast(targets(batch, records), "int32")), "float32")).dataSync()[0] ?? 0,
  };
}

function inputs(batch: Float32Array, records: number): Tensor {
  return cast(slice(tensor2d(batch, [records, window + 1]), [0, 0], [records, window]), "int32");
}

function targets(batch: Float32Array, records: number): Tensor {
  return slice(tensor2d(batch, [records, window + 1]), [0, 1], [records, window]);
}

/** Makes parameters and keeps them in order. */
class Parameters {
  readonly list: Parameter[] = [];

  constructor(private readonly plan: StagePlan) {}

  weights(name: string, shape: number[], axis?: number, deviation = 0.05): Parameter {
    return this.keep(newParameter(name, shape, { seed: this.plan.seed, deviation }, this.cut(axis)));
  }

  constant(name: string, shape: number[], constant: number, axis?: number): Parameter {
    return this.keep(newParameter(name, shape, { constant }, this.cut(axis)));
  }

  private cut(axis: number | undefined): Cut | undefined {
    return axis === undefined ? undefined : { axis, index: this.plan.tensor, parts: this.plan.parallel.tp };
  }

  private keep(parameter: Parameter): Parameter {
    this.list.push(parameter);
    return parameter;
  }
}

class Embedding {
  private readonly table: Parameter;
  private readonly positions: Parameter;

  constructor(make: Parameters) {
    this.table = make.weights("embedding", [characters, width]);
    this.positions = make.weights("positions", [window, width]);
  }

  /** Rows by a product with ones and zeros: the wasm backend has no gradient of a look-up. */
  forward(ids: Tensor): Tensor {
    const [records = 0] = ids.shape;
    const ones = cast(oneHot(reshape(ids, [records * window]), characters), "float32");
    return add(reshape(matMul(ones, this.table.variable), [records, window, width]), this.positions.variable);
  }
}

class Norm {
  private readonly scale: Parameter;
  private readonly shift: Parameter;

  constructor(make: Parameters, name: string) {
    this.scale = make.constant(`${name}.scale`, [width], 1);
    this.shift = make.constant(`${name}.shift`, [width], 0);
  }

  forward(x: Tensor): Tensor {
    const centred = sub(x, mean(x, 2, true));
    const normal = mul(centred, rsqrt(add(mean(square(centred), 2, true), 1e-5)));
    return add(mul(normal, this.scale.variable), this.shift.variable);
  }
}

/** Attention, then two dense layers. Each half begins with whole columns' inputs and ends with a sum over the ranks' rows. */
class Block {
  private readonly norm1: Norm;
  private readonly qkv: Parameter;
  private readonly qkvBias: Parameter;
  private readonly project: Parameter;
  private readonly projectBias: Parameter;
  private readonly norm2: Norm;
  private readonly widen: Parameter;
  private readonly widenBias: Parameter;
  private readonly narrow: Parameter;
  private readonly narrowBias: Parameter;
  private readonly mask: Tensor;
  private readonly heads: number;

  constructor(
    make: Parameters,
    name: string,
    private readonly plan: StagePlan,
  ) {
    this.heads = heads / plan.parallel.tp;
    this.norm1 = new Norm(make, `${name}.norm1`);
    this.qkv = make.weights(`${name}.qkv`, [width, 3, heads, headWidth], 2);
    this.qkvBias = make.constant(`${name}.qkv.bias`, [3, heads, headWidth], 0, 1);
    this.project = make.weights(`${name}.project`, [heads, headWidth, width], 0);
    this.projectBias = make.constant(`${name}.project.bias`, [width], 0);
    this.norm2 = new Norm(make, `${name}.norm2`);
    this.widen = make.weights(`${name}.widen`, [width, 4 * width], 1);
    this.widenBias = make.constant(`${name}.widen.bias`, [4 * width], 0, 0);
    this.narrow = make.weights(`${name}.narrow`, [4 * width, width], 0);
    this.narrowBias = make.constant(`${name}.narrow.bias`, [width], 0);
    const values = Float32Array.from({ length: window * window }, (_, i) => (i % window > Math.floor(i / window) ? -1e9 : 0));
    this.mask = tensor2d(values, [window, window]);
  }

  forward(x: Tensor): Tensor {
    const middle = add(x, this.attention(this.fanOut(this.norm1.forward(x))));
    return add(middle, this.dense(this.fanOut(this.norm2.forward(middle))));
  }

  private attention(x: Tensor): Tensor {
    const [records = 0] = x.shape;
    const own = this.heads * headWidth;
    const rows = reshape(x, [records * window, width]);
    const product = add(matMul(rows, reshape(this.qkv.variable, [width, 3 * own])), reshape(this.qkvBias.variable, [3 * own]));
    // To [3, records, heads, window, headWidth].
    const split = transpose(reshape(product, [records, window, 3, this.heads, headWidth]), [2, 0, 3, 1, 4]);
    const [q, k, v] = [0, 1, 2].map((i) => squeeze(slice(split, [i, 0, 0, 0, 0], [1, records, this.heads, window, headWidth]), [0]));
    if (q === undefined || k === undefined || v === undefined) return x;
    const scores = add(mul(matMul(q, k, false, true), 1 / Math.sqrt(headWidth)), this.mask);
    const mixed = reshape(transpose(matMul(softmax(scores), v), [0, 2, 1, 3]), [records * window, own]);
    const partial = matMul(mixed, reshape(this.project.variable, [own, width]));
    return add(this.fanIn(reshape(partial, [records, window, width])), this.projectBias.variable);
  }

  private dense(x: Tensor): Tensor {
    const [records = 0] = x.shape;
    const wide = add(matMul(reshape(x, [records * window, width]), this.widen.variable), this.widenBias.variable);
    // GELU, by its usual approximation.
    const active = mul(wide, sigmoid(mul(wide, 1.702)));
    return add(this.fanIn(reshape(matMul(active, this.narrow.variable), [records, window, width])), this.narrowBias.variable);
  }

  /** Every part gets the whole input; in the backward pass the parts' gradients are summed. */
  private fanOut(x: Tensor): Tensor {
    if (this.plan.parallel.tp === 1) return x;
    return customGrad((input) => {
      const whole = input as Tensor;
      return { value: whole.clone(), gradFunc: (dy: Tensor) => this.sumOverParts(dy) };
    })(x);
  }

  /** Sums the parts' results; in the backward pass every part gets the whole gradient. */
  private fanIn(x: Tensor): Tensor {
    if (this.plan.parallel.tp === 1) return x;
    return customGrad((input) => ({ value: this.sumOverParts(input as Tensor), gradFunc: (dy: Tensor) => dy.clone() }))(x);
  }

  private sumOverParts(x: Tensor): Tensor {
    return tensor(this.plan.sumOverParts(x.dataSync<"float32">()), x.shape, "float32");
  }
}

class Head {
  private readonly norm: Norm;
  private readonly weights: Parameter;
  private readonly bias: Parameter;

  constructor(make: Parameters) {
    this.norm = new Norm(make, "norm");
    this.weights = make.weights("head", [width, characters]);
    this.bias = make.constant("head.bias", [characters], 0);
  }

  forward(x: Tensor): Tensor {
    const [records = 0] = x.shape;
    const rows = reshape(this.norm.forward(x), [records * window, width]);
    return reshape(add(matMul(rows, this.weights.variable), this.bias.variable), [records, window, characters]);
  }
}
