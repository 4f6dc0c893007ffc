// Calls all that a package exports with what callers in JavaScript may pass: whatever is refused must be refused with a sentence.
import { describe, expect, it } from "vitest";

type Named = readonly [text: string, make: () => unknown];

const thrower = {
  get: () => {
    throw new Error("thrown by a proxy");
  },
  ownKeys: () => {
    throw new Error("thrown by a proxy");
  },
};

const plain: readonly Named[] = [
  ["null", () => null],
  ["undefined", () => undefined],
  ["5", () => 5],
  ["-1", () => -1],
  ["0.5", () => 0.5],
  ["NaN", () => Number.NaN],
  ["Infinity", () => Number.POSITIVE_INFINITY],
  ["2^32", () => 2 ** 32],
  ["2^53", () => 2 ** 53],
  ["1n", () => 1n],
  ['"x"', () => "x"],
  ['"__proto__"', () => "__proto__"],
  ["a symbol", () => Symbol("s")],
  ["true", () => true],
  ["{}", () => ({})],
  ["a frozen object", () => Object.freeze({})],
  ["an object without a prototype", () => Object.create(null)],
  ["[]", () => []],
  ["[null]", () => [null]],
  ["a function", () => () => {}],
  ["a detached array", detached],
  ["a detached ArrayBuffer", () => detached().buffer],
  ["a SharedArrayBuffer", () => new SharedArrayBuffer(64)],
  ["an array on a SharedArrayBuffer", () => new Float32Array(new SharedArrayBuffer(64))],
  ["a DataView", () => new DataView(new ArrayBuffer(64))],
];

/** What throws whoever looks into it. */
const throwing: readonly Named[] = [
  ["a list of a getter that throws", () => Object.defineProperty([1], 0, { get: thrower.get })],
  ["a proxy that throws", () => new Proxy({}, thrower)],
  ["a list's proxy that throws", () => new Proxy([1], thrower)],
  ["a revoked proxy", revoked],
];

function detached(): Float32Array {
  const view = new Float32Array(16);
  structuredClone(view, { transfer: [view.buffer] });
  return view;
}

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

/** Fresh arguments that are right; called once a call, so that none sees what another has done to them. */
type Arguments = () => readonly unknown[];

interface Variant {
  readonly what: string;
  readonly args: readonly unknown[];
}

interface Options {
  /** Exported functions that aren't called, and why not. */
  readonly except?: Readonly<Record<string, string>>;
  /** Also what throws whoever looks into it: that is refused too, in place of whatever it threw. */
  readonly throwing?: boolean;
  /** How deep in an argument something is replaced; default 1: its properties. */
  readonly depth?: number;
  /** Functions of which only the arguments and their properties are replaced, and why not more. */
  readonly shallow?: Readonly<Record<string, string>>;
}

/**
 * Every function and class of a module is called with right arguments and then with each argument, and each property of an
 * argument (and, where asked for, of objects in it), replaced by what it mustn't be. It returns, or throws what has a code, facts and a remedy. Classes of errors are left out.
 */
export function testHostileValues(
  exported: object,
  calls: Readonly<Record<string, Arguments>>,
  { except = {}, throwing: isThrowing = false, depth = 1, shallow = {} }: Options = {},
): void {
  const functions = Object.entries(exported).filter(([, value]) => typeof value === "function" && !(value.prototype instanceof Error));

  describe("values that make no sense are refused with a sentence", () => {
    it("in all that is exported", () => {
      const named = new Set([...Object.keys(calls), ...Object.keys(except)].map((name) => name.split(" ")[0]));
      expect(functions.map(([name]) => name).filter((name) => !named.has(name))).toEqual([]);
    });

    it.each(Object.entries(calls))("%s", async (name, right) => {
      const [, called] = functions.find(([other]) => other === name.split(" ")[0]) ?? [];
      await settle(() => call(called, right()));
      const failures: string[] = [];
      for (const { what, args } of variants(right, isThrowing, Object.hasOwn(shallow, name) ? 1 : depth)) {
        const error = await settle(() => call(called, args)).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        if (error !== undefined && !explains(error))
          failures.push(`${name} with ${what}: ${error instanceof Error ? error.stack?.split("\n").slice(0, 3).join(" ") : typeof error}`);
      }
      expect(failures).toEqual([]);
    });
  });
}

function call(called: unknown, args: readonly unknown[]): unknown {
  if (typeof called !== "function") throw new Error("is no exported function");
  const isClass = Function.prototype.toString.call(called).startsWith("class");
  return isClass ? Reflect.construct(called, args) : Reflect.apply(called, undefined, args);
}

/** Waits for what comes later, and closes what was opened. */
async function settle(attempt: () => unknown): Promise<void> {
  const result = await attempt();
  if (typeof result === "object" && result !== null && Symbol.dispose in result) (result as Disposable)[Symbol.dispose]();
}

function explains(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, facts, remedy } = error as { code?: unknown; facts?: unknown; remedy?: unknown };
  return typeof code === "string" && typeof facts === "object" && typeof remedy === "string" && remedy !== "";
}

function* variants(right: Arguments, isThrowing: boolean, depth: number): Generator<Variant> {
  const values = isThrowing ? [...plain, ...throwing] : plain;
  for (const position of right().keys()) {
    for (const [text, make] of values) yield { what: `${text} as argument ${position}`, args: right().with(position, make()) };
    for (const path of pathsOf(right()[position], depth)) {
      const where = `${path.join(".")} of argument ${position}`;
      for (const [text, make] of values) {
        const args = right();
        yield { what: `${text} as ${where}`, args: args.with(position, replaced(args[position], path, { value: make() })) };
      }
      if (!isThrowing) continue;
      const args = right();
      yield { what: `a getter that throws as ${where}`, args: args.with(position, replaced(args[position], path, { get: thrower.get })) };
    }
  }
}

type Path = readonly string[];

/** The ways to the properties of plain objects and to the first entry of lists: what is of a class isn't a caller's to fill. */
function pathsOf(value: unknown, depth: number): Path[] {
  if (depth === 0) return [];
  return namesOf(value).flatMap((name) => [
    [name],
    ...pathsOf((value as Record<string, unknown>)[name], depth - 1).map((rest) => [name, ...rest]),
  ]);
}

function namesOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.length === 0 ? [] : ["0"];
  const isPlain = typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  return isPlain ? Object.keys(value) : [];
}

/** A copy with another property at the end of the way; what lies beside the way is the same. */
function replaced(whole: unknown, [name = "", ...rest]: Path, property: PropertyDescriptor): unknown {
  const copy = Array.isArray(whole) ? [...whole] : { ...(whole as object) };
  const inner = (whole as Record<string, unknown>)[name];
  const given = rest.length === 0 ? property : { value: replaced(inner, rest, property) };
  return Object.defineProperty(copy, name, { enumerable: true, configurable: true, ...given });
}
