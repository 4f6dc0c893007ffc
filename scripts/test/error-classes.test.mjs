// Classes of errors that packages export can be constructed by anyone, from JavaScript too: whatever is left out or mixed up, an error of
// that class comes of it, with a sentence and a remedy, and no complaint about a property of null.
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../lib/paths.mjs";
import { publicPackages } from "../pack-all.mjs";

const modules = publicPackages()
  .filter(({ isNative }) => !isNative)
  .flatMap(({ folder, name, manifest }) =>
    Object.entries(manifest.exports)
      .filter(([, target]) => target?.types !== undefined)
      .map(([path, target]) => ({ name: join(name, path), file: join(root, folder, target.default) })),
  );

const classes = [];
for (const { name, file } of modules) {
  for (const [exported, value] of Object.entries(await import(file)))
    if (typeof value === "function" && value.prototype instanceof Error) classes.push([`${exported} of ${name}`, value]);
}

const wrong = [null, undefined, 5, "x", true, {}, []];
const mostArguments = 6;

/** No arguments, and each value as all of the first arguments, and as one among ones that are texts or lists. */
function* argumentLists() {
  yield [];
  for (const value of wrong) {
    for (let count = 1; count <= mostArguments; count += 1) {
      yield Array(count).fill(value);
      for (const other of ["x", []]) yield [...Array(count - 1).fill(other), value];
    }
  }
}

it("are exported by these packages", () => {
  const owners = new Set(classes.map(([name]) => name.split(" of ")[1]));
  expect([...owners].sort()).toEqual([
    "@dfccl/actor",
    "@dfccl/collective-tests",
    "@dfccl/compiler",
    "@dfccl/core",
    "@dfccl/primitives",
    "@dfccl/queues",
    "@dfccl/scheduler/tuner",
    "@dfccl/simulator",
    "@dfccl/train",
    "dfccl",
    "dfccl/internal/measurement",
  ]);
  expect(classes.length).toBeGreaterThan(70);
});

it.each(classes)("%s can be made of anything", (_, Kind) => {
  for (const args of argumentLists()) {
    const error = new Kind(...args);
    expect(error).toBeInstanceOf(Kind);
    expect(error).toMatchObject({ name: expect.any(String), message: expect.stringMatching(/\S/), remedy: expect.stringMatching(/\S/) });
    expect(error.facts).toBeTypeOf("object");
    expect(error.facts).not.toBeNull();
  }
});
