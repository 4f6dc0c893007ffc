import { type Tensor, tensor, type Workload } from "./workload.js";

/** ViT-B/16: 152 tensors, 86,567,656 parameters. */
export function vitB16(): Workload {
  const width = 768;
  return {
    name: "vit-b16",
    tensors: [
      tensor("cls_token", width),
      tensor("pos_embed", 197, width),
      ...linear("patch_embed", width, 3 * 16 * 16),
      ...repeat(12, (layer) => [
        ...norm(`blocks.${layer}.norm1`, width),
        ...linear(`blocks.${layer}.qkv`, 3 * width, width),
        ...linear(`blocks.${layer}.proj`, width, width),
        ...norm(`blocks.${layer}.norm2`, width),
        ...linear(`blocks.${layer}.fc1`, 4 * width, width),
        ...linear(`blocks.${layer}.fc2`, width, 4 * width),
      ]),
      ...norm("norm", width),
      ...linear("head", 1000, width),
    ],
  };
}

/** GPT-2 with a tied head; the 124 M one has 148 tensors and 124,439,808 parameters. */
export function gpt2(width = 768, layers = 12): Workload {
  return {
    name: "gpt2",
    tensors: [
      tensor("wte", 50257, width),
      tensor("wpe", 1024, width),
      ...repeat(layers, (layer) => [
        ...norm(`h.${layer}.ln_1`, width),
        ...linear(`h.${layer}.c_attn`, 3 * width, width),
        ...linear(`h.${layer}.attn_proj`, width, width),
        ...norm(`h.${layer}.ln_2`, width),
        ...linear(`h.${layer}.c_fc`, 4 * width, width),
        ...linear(`h.${layer}.mlp_proj`, width, 4 * width),
      ]),
      ...norm("ln_f", width),
    ],
  };
}

function norm(name: string, width: number): Tensor[] {
  return [tensor(`${name}.weight`, width), tensor(`${name}.bias`, width)];
}

function linear(name: string, out: number, input: number): Tensor[] {
  return [tensor(`${name}.weight`, out, input), tensor(`${name}.bias`, out)];
}

function repeat(count: number, layer: (index: number) => Tensor[]): Tensor[] {
  return Array.from({ length: count }, (_, index) => layer(index)).flat();
}
