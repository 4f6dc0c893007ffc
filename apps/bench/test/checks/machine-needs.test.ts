import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { repositoryRoot } from "../repository-root.js";

interface Need {
  readonly name: string;
  readonly for: string | readonly string[];
  readonly packages: { readonly apt: string };
}
interface Machine {
  readonly needs: readonly Need[];
  missingNeeds(purposes: readonly string[]): Promise<readonly Need[]>;
  installCommand(missing: readonly Need[]): string;
}

const machine = (await import(pathToFileURL(join(repositoryRoot, "scripts/lib/machine.mjs")).href)) as Machine;

// `npm start` asks for what it builds, and only that: packing for GPUs failed in a clone that had never run `npm test`.
it("what is packed for GPUs is asked for by name, the framework of its tests too", async () => {
  const names = machine.needs.filter((need) => [need.for].flat().includes("pack")).map(({ name }) => name);
  expect(names).toEqual(["doctest", "xz"]);
  const missing = await machine.missingNeeds(["pack"]);
  expect(names).toEqual(expect.arrayContaining(missing.map(({ name }) => name)));
  const command = machine.installCommand(machine.needs.filter(({ name }) => names.includes(name)));
  expect(command).toMatch(/doctest.* xz/);
});
