import { gpt2, vitB16 } from "../workloads/transformers.js";
import { scaled, type Workload } from "../workloads/workload.js";
import { type Degrees, type HybridPrograms, hybridPrograms } from "./hybrid-programs.js";

/** A model in one kind of parallelism, as the paper's Fig. 12 and 13 have it, in small. */
export interface HybridSetting {
  readonly name: string;
  /** @param scale - share of its elements that each tensor keeps. */
  readonly programs: (scale: number) => HybridPrograms;
}

interface Model {
  readonly workload: () => Workload;
  /** Positions times width: an activation of one sample. */
  readonly activation: number;
}

const vit: Model = { workload: vitB16, activation: 197 * 768 };
const gpt: Model = { workload: gpt2, activation: 1024 * 768 };

function setting(name: string, { workload, activation }: Model, degrees: Degrees, microBatches: number): HybridSetting {
  return {
    name,
    programs: (scale) =>
      hybridPrograms({
        ...degrees,
        workload: scaled(workload(), scale),
        microBatches,
        activation: Math.max(1, Math.round(activation * scale)),
      }),
  };
}

export const hybridSettings: readonly HybridSetting[] = [
  setting("vit-dp", vit, { dp: 4, tp: 1, pp: 1 }, 1),
  setting("vit-tp", vit, { dp: 1, tp: 4, pp: 1 }, 1),
  setting("vit-tp-dp", vit, { dp: 2, tp: 2, pp: 1 }, 1),
  setting("vit-3d", vit, { dp: 2, tp: 2, pp: 2 }, 4),
  setting("gpt2-3d", gpt, { dp: 2, tp: 2, pp: 2 }, 4),
];
