import type { Network, TrainingData } from "./mlp.js";

/** The same network by plain loops in float64, without graph, actors or ranks. @returns losses and parameters after so many steps. */
export function trainPlainly({ widths, batch, rate }: Network, { initial, feeds }: TrainingData, steps: number) {
  const layers = widths.length - 1;
  const parameters = new Map(Object.entries(initial).map(([name, values]) => [name, Float64Array.from(values)]));
  const get = (name: string): Float64Array => parameters.get(name) as Float64Array;
  const losses: number[] = [];
  for (let step = 0; step < steps; step += 1) {
    const h: Float64Array[] = [Float64Array.from(feeds.x(step))];
    for (let layer = 0; layer < layers; layer += 1) {
      const [from = 0, to = 0] = widths.slice(layer, layer + 2);
      const out = new Float64Array(batch * to);
      for (let row = 0; row < batch; row += 1) {
        for (let column = 0; column < to; column += 1) {
          let sum = get(`b${layer}`)[column] ?? 0;
          for (let inner = 0; inner < from; inner += 1)
            sum += (h[layer]?.[row * from + inner] ?? 0) * (get(`w${layer}`)[inner * to + column] ?? 0);
          out[row * to + column] = layer < layers - 1 ? Math.max(sum, 0) : sum;
        }
      }
      h.push(out);
    }
    const target = feeds.t(step);
    let delta: Float64Array = (h[layers] as Float64Array).map((value, index) => (value - (target[index] ?? 0)) / batch);
    losses.push(delta.reduce((sum, value) => sum + value ** 2, 0) * (batch / 2));
    for (let layer = layers - 1; layer >= 0; layer -= 1) delta = backward(layer, delta, h[layer] as Float64Array, layer > 0);
  }
  return { losses, parameters };

  /** Updates a layer. @returns the gradient before the activation of the layer below. */
  function backward(layer: number, delta: Float64Array, input: Float64Array, isActivated: boolean): Float64Array {
    const [from = 0, to = 0] = widths.slice(layer, layer + 2);
    const w = get(`w${layer}`);
    const below = new Float64Array(batch * from);
    const dw = new Float64Array(w.length);
    const db = new Float64Array(to);
    for (let row = 0; row < batch; row += 1) {
      for (let column = 0; column < to; column += 1) {
        const d = delta[row * to + column] ?? 0;
        db[column] = (db[column] ?? 0) + d;
        for (let inner = 0; inner < from; inner += 1) {
          const x = input[row * from + inner] ?? 0;
          dw[inner * to + column] = (dw[inner * to + column] ?? 0) + x * d;
          if (!isActivated || x > 0) below[row * from + inner] = (below[row * from + inner] ?? 0) + d * (w[inner * to + column] ?? 0);
        }
      }
    }
    for (let index = 0; index < w.length; index += 1) w[index] = (w[index] ?? 0) - rate * (dw[index] ?? 0);
    const bias = get(`b${layer}`);
    for (let index = 0; index < to; index += 1) bias[index] = (bias[index] ?? 0) - rate * (db[index] ?? 0);
    return below;
  }
}
