// The same orders with preemption switched off deadlock, as they do in other libraries; the engine's watchdog says why.
import { DeadlockError, openWorld } from "@dfccl/core";

await using world = openWorld({ ranks: 2, policy: "in-order", streams: 1 });

const runs = world.ranks.map((rank) => {
  const collectives = [0, 1].map((id) => rank.register({ id, collective: "all-reduce", dataType: "int32", count: 4 }));
  if (rank.number === 1) collectives.reverse();
  return rank.submit(collectives.map((collective) => [collective, new Int32Array(4), new Int32Array(4)]));
});

try {
  await Promise.all(runs);
  throw new Error("it should have deadlocked");
} catch (error) {
  if (!(error instanceof DeadlockError)) throw error;
  console.log(error.report.text);
}
