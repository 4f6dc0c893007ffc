import { testHostileMethods } from "../../../scripts/lib/hostile-methods.js";
import { DaemonModel, simulationPolicy } from "../src/index.js";

const started = (): DaemonModel => {
  const requests = [1, 2, 3];
  const model = new DaemonModel(simulationPolicy("adaptive"), { next: () => requests.pop(), poll: () => "stuck" });
  model.start(0);
  return model;
};

testHostileMethods("DaemonModel", started, {
  start: () => [0],
  visit: () => [1],
  fetch: () => [],
  poll: () => [],
  failPolls: () => [1],
  end: () => [1, { fetched: true, progressed: true, visits: 1 }],
});
