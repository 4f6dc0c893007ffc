import { checkInteger, checkList, checkObject, readPlain } from "@dfccl/primitives";
import { simulationPolicy } from "@dfccl/scheduler";
import { checkTime } from "../check-scenario.js";
import { gpuCosts } from "../scenario.js";
import { simulateSchedule } from "../simulate-schedule.js";
import { infiniband, islands } from "../topology.js";

/** An iteration of data-parallel training: until the next forward pass is through. */
export interface PriorityResult {
  readonly policy: "fifo" | "priority";
  readonly iterationNs: number;
  /** Of the iteration, what isn't computing. */
  readonly exposedNs: number;
  readonly preemptions: number;
}

/** A model by its layers, the first first. */
export interface LayeredModel {
  readonly ranks: number;
  readonly layerBytes: readonly number[];
  /** Of the forward pass of one layer; the backward pass takes twice that. */
  readonly forwardNsPerLayer: number;
}

/** 48 layers whose gradients take a little longer than the backward pass. */
export const layeredModel: LayeredModel = {
  ranks: 4,
  layerBytes: Array.from({ length: 48 }, () => 2_000_000),
  forwardNsPerLayer: 100_000,
};

const mostNsPerLayer = 1e9;

/**
 * The backward pass yields the last layer's gradient first, and the next forward pass needs the first layer's first. With
 * priorities what is needed first overtakes what was submitted before. @see DFCCL, section 4.3
 */
export function simulatePriority(model: LayeredModel = layeredModel): readonly PriorityResult[] {
  checkObject("model", model, "an object such as layeredModel");
  const { ranks, layerBytes, forwardNsPerLayer } = readPlain("model", model);
  checkInteger("model.ranks", ranks, 1, 1024);
  checkList("model.layerBytes", layerBytes, "a list with the bytes of each layer");
  checkTime("model.forwardNsPerLayer", forwardNsPerLayer, mostNsPerLayer);
  const layers = layerBytes.length;
  const everyone = Array.from({ length: ranks }, (_, rank) => rank);
  const backwardNs = 2 * forwardNsPerLayer;
  return (["fifo", "priority"] as const).map((policy) => {
    const { completedAtNs, preemptions } = simulateSchedule({
      topology: { ranksPerIsland: 8, island: islands.pcie, network: infiniband },
      costs: gpuCosts,
      policy: simulationPolicy(policy === "fifo" ? "adaptive" : "priority"),
      collectives: layerBytes.map((bytes, layer) => ({ bytes, ranks: everyone, priority: layers - layer })),
      hosts: everyone.map(() => Array.from({ length: layers }, (_, i) => ({ atNs: (i + 1) * backwardNs, collective: layers - 1 - i }))),
    });
    // A layer's forward pass begins when its gradients are summed and the layer before is through.
    const iterationNs = completedAtNs.reduce((time, completed) => Math.max(time, completed) + forwardNsPerLayer, 0);
    return { policy, iterationNs, exposedNs: iterationNs - layers * (backwardNs + forwardNsPerLayer), preemptions };
  });
}
