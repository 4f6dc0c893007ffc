import { expect, it } from "vitest";
import { fitNumber, general } from "../src/text/number.js";

it.each([
  [0, 7, "   0.00"],
  [0.126, 6, "  0.13"],
  [9999.12, 7, "9999.12"],
  [12345.67, 7, "12345.7"],
  [123456.7, 7, " 123457"],
  [1234567.8, 7, "1234568"],
  [12345678.9, 7, "1.2e+07"],
  [123.45, 6, "123.45"],
  [1234.56, 6, "1234.6"],
  [123456, 6, "123456"],
  [1234567, 6, " 1e+06"],
  [Number.NaN, 6, "   nan"],
])("%d in %d columns is %j", (value, width, text) => expect(fitNumber(value, width)).toBe(text));

it.each([
  [0, "0"],
  [1000000, "1e+06"],
  [123456, "123456"],
  [0.745861, "0.745861"],
  [1.75, "1.75"],
  [0.00001234, "1.234e-05"],
  [4000, "4000"],
  [Number.NaN, "nan"],
])("%d in general is %j", (value, text) => expect(general(value)).toBe(text));
