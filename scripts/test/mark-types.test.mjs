import { expect, it } from "vitest";
import { markTypes, withoutNode } from "../mark-types.mjs";

it("says `type` of exported names that aren't there at run time", () => {
  const declarations = "declare class A {}\nexport { A, type B, C as D };\n";
  expect(markTypes(declarations, "export { C as D };\n")).toBe("declare class A {}\nexport { type A, type B, C as D };\n");
});

const declarations = `import { inspect, InspectOptions } from 'node:util';
declare class World implements Disposable {
    close(): void;
    [Symbol.dispose](): void;
    [inspect.custom](_depth: number, options: InspectOptions): string;
}
`;

it("leaves nothing in declarations that needs @types/node, and names TypeScript's library for `using`", () => {
  const left = `/// <reference lib="esnext.disposable" />
declare class World implements Disposable {
    close(): void;
    [Symbol.dispose](): void;
}
`;
  expect(withoutNode(declarations)).toBe(left);
  expect(withoutNode(declarations.replace("inspect, InspectOptions", "InspectOptions, inspect"))).toBe(left);
  expect(withoutNode(left)).toBe(left);
  expect(withoutNode("declare const a: number;\n")).toBe("declare const a: number;\n");
});
