import { describe, expect, expectTypeOf, it } from "vitest";
import { type Backend, type DeviceBuffer, openWorld, type Rank, reportGpus, type World } from "../src/index.js";
import { nativeAddon } from "../src/native-addon/native-world.js";
import { engineOf } from "../src/world.js";
import { expectFault, thrownBy, untyped } from "./support/faults.js";
import { rankOf } from "./support/open.js";

// What holds of GPUs themselves is tested on machines that have some: cuda/test, and gpu.test.ts.
describe("the choice of a backend", () => {
  it("is the CPU unless one asks", () => {
    using world = openWorld({ ranks: 1 });
    expect(world.backend).toBe("cpu");
    expectTypeOf(world).toEqualTypeOf<World<"cpu">>();
    expectTypeOf(rankOf(world, 0).allocate("float32", 1)).toExtend<Float32Array>();
  });

  it("is what works here with auto, and its buffers are of either kind to the compiler", () => {
    using world = openWorld({ ranks: 1, backend: "auto" });
    expect(world.backend).toBe(reportGpus().obstacle === undefined ? "cuda" : "cpu");
    expectTypeOf(world).toEqualTypeOf<World<Backend>>();
    expectTypeOf<ReturnType<Rank<"cuda">["allocate"]>>().toExtend<DeviceBuffer>();
  });

  it("says why there is no GPU, and what to do", () => {
    const { obstacle, isBuilt, devices, links } = reportGpus();
    if (obstacle === undefined) {
      expect(devices.length).toBeGreaterThan(0);
      return;
    }
    expectFault(obstacle, "UNAVAILABLE");
    expectFault(
      thrownBy(() => openWorld({ ranks: 2, backend: "cuda" })),
      "UNAVAILABLE",
    );
    if (!isBuilt) expect(String(obstacle)).toContain("native-linux-x64-gnu-cuda");
    expect([devices, links]).toEqual([[], []]);
  });

  it("copies between the host's memory and a rank's on another thread, also where both are one", async () => {
    using world = openWorld({ ranks: 1 });
    const there = rankOf(world, 0).allocate("uint8", 100);
    const address = nativeAddon().addressOf(there);
    await engineOf(world).native.copyIn(0, address, new Uint8Array(100).fill(7));
    expect(there).toEqual(new Uint8Array(100).fill(7));
    const back = new Uint8Array(100);
    await engineOf(world).native.copyOut(0, back, address);
    expect(back).toEqual(there);
  });

  it("refuses what is no backend", () => {
    expectFault(
      thrownBy(() => openWorld({ ranks: 1, backend: untyped("quantum") })),
      "INVALID_ARGUMENT",
    );
  });
});
