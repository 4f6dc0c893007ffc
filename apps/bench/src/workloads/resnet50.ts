import { type Tensor, tensor, type Workload } from "./workload.js";

const stages = [
  { width: 64, blocks: 3 },
  { width: 128, blocks: 4 },
  { width: 256, blocks: 6 },
  { width: 512, blocks: 3 },
] as const;

/** ResNet-50: 161 tensors, 25,557,032 parameters. */
export function resnet50(): Workload {
  const tensors: Tensor[] = [tensor("conv1", 64, 3, 7, 7), ...norm("bn1", 64)];
  let input = 64;
  stages.forEach(({ width, blocks }, stage) => {
    for (let block = 0; block < blocks; block += 1) {
      const name = `layer${stage + 1}.${block}`;
      tensors.push(
        ...conv(`${name}.conv1`, width, input, 1),
        ...conv(`${name}.conv2`, width, width, 3),
        ...conv(`${name}.conv3`, 4 * width, width, 1),
        ...(block === 0 ? conv(`${name}.downsample`, 4 * width, input, 1) : []),
      );
      input = 4 * width;
    }
  });
  tensors.push(tensor("fc.weight", 1000, 2048), tensor("fc.bias", 1000));
  return { name: "resnet50", tensors };
}

function norm(name: string, channels: number): Tensor[] {
  return [tensor(`${name}.weight`, channels), tensor(`${name}.bias`, channels)];
}

function conv(name: string, out: number, input: number, kernel: number): Tensor[] {
  return [tensor(`${name}.weight`, out, input, kernel, kernel), ...norm(`${name}.bn`, out)];
}
