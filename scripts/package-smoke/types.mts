// What a program in TypeScript sees of the published packages. It is checked, and never run.
import { type BufferOf, openWorld, type Rank } from "@dfccl/core";

using world = openWorld({ ranks: 2, backend: "cpu" });
const rank: Rank | undefined = world.ranks[0];
const sum = rank?.register({ id: 7, collective: "all-reduce", dataType: "float32", count: 4 });
const x: BufferOf<"cpu", "float32"> | undefined = rank?.allocate("float32", 4);
if (x) await sum?.run(x, x, { timeoutMs: 100 });

// Types that were lost would accept anything.
// @ts-expect-error
rank?.register({ id: 7, collective: "all-reduse", dataType: "float32", count: 4 });
// @ts-expect-error
rank?.allocate("float", 4);
