// A rank that never comes is named, and an abort lets go of everything without waiting for it.
import { CollectiveAbortedError, CollectiveTimeoutError, openWorld } from "@dfccl/core";

await using world = openWorld({ ranks: 3 });
const sums = world.ranks.map((rank) => rank.register({ id: 1, collective: "all-reduce", dataType: "float32", count: 8 }));
const [first, second] = sums;
if (!first || !second) throw new Error("not registered");

const other = second.run(new Float32Array(8), new Float32Array(8)).catch((error: unknown) => error);
try {
  await first.run(new Float32Array(8), new Float32Array(8), { timeoutMs: 100 });
} catch (error) {
  if (!(error instanceof CollectiveTimeoutError)) throw error;
  console.log(error.message); // … rank 2 never submitted it …
}

first.abort();
await first.quarantine(); // Now no rank touches the buffers any more.
console.log(((await other) as Error).message);
if (!((await other) instanceof CollectiveAbortedError)) throw new Error("the other rank's run should have been aborted");
