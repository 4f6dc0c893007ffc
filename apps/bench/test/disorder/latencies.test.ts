import { expect, it } from "vitest";
import { Latencies } from "../../src/disorder/latencies.js";

it("gives the middle and the tail", () => {
  const latencies = new Latencies();
  for (let i = 0; i < 100; i += 1) latencies.add(99 - i);
  expect(latencies.percentile(0.5)).toBe(50);
  expect(latencies.percentile(0.99)).toBe(99);
});

it("gives no number without runs", () => {
  expect(new Latencies().percentile(0.5)).toBeNaN();
});

it("keeps a bounded sample of all runs, late ones included", () => {
  const latencies = new Latencies(100);
  for (let i = 0; i < 10_000; i += 1) latencies.add(i);
  expect(latencies.percentile(0.5)).toBeGreaterThan(2000);
  expect(latencies.percentile(0.5)).toBeLessThan(8000);
});
