import { describe, expect, it } from "vitest";
import { fromHere } from "../../src/terminal/from-here.js";

describe("fromHere", () => {
  it.each([
    ["/home/me/ring.ts:4:21: there is no rank 5.", "ring.ts:4:21: there is no rank 5."],
    ["(file:///home/me/a/b.ts:1:2) and /home/me/c", "(a/b.ts:1:2) and c"],
    ["/home/me.too/x, /mnt/home/me/x, /home/me2/x and /home/me", "/home/me.too/x, /mnt/home/me/x, /home/me2/x and /home/me"],
  ])("%s", (text, wanted) => {
    expect(fromHere(text, "/home/me")).toBe(wanted);
  });

  it("takes a folder's name for what it is, and leaves all as it is at the root", () => {
    expect(fromHere("/a+b (c)/x /aab (c)/x", "/a+b (c)")).toBe("x /aab (c)/x");
    expect(fromHere("https://a/b", "/")).toBe("https://a/b");
  });
});
