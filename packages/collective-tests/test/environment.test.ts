import { readEnvironment } from "@dfccl/collective-tests";
import { describe, expect, it } from "vitest";

describe("the environment", () => {
  it.each([
    [{}, [0, 0, 0, 0]],
    [{ NCCL_TESTS_SPLIT_MASK: "1" }, [0, 1, 0, 1]],
    [{ NCCL_TESTS_SPLIT_MASK: "0x2" }, [0, 0, 2, 2]],
    [{ NCCL_TESTS_SPLIT: "MOD 3" }, [0, 1, 2, 0]],
    [{ NCCL_TESTS_SPLIT: "%2" }, [0, 1, 0, 1]],
    [{ NCCL_TESTS_SPLIT: "AND0x1" }, [0, 1, 0, 1]],
    [{ NCCL_TESTS_SPLIT: "&2" }, [0, 0, 2, 2]],
    [{ NCCL_TESTS_SPLIT: "OR 1" }, [1, 1, 3, 3]],
    [{ NCCL_TESTS_SPLIT: "|2" }, [2, 3, 2, 3]],
    [{ NCCL_TESTS_SPLIT: "DIV2" }, [0, 0, 1, 1]],
    [{ NCCL_TESTS_SPLIT: "/4" }, [0, 0, 0, 0]],
  ])("%j splits four processes into groups %j", (variables, groups) => {
    const { group } = readEnvironment(variables);
    expect([0, 1, 2, 3].map((process) => group(process))).toEqual(groups);
  });

  it.each([
    [{ NCCL_TESTS_SPLIT: "XOR 3" }],
    [{ NCCL_TESTS_SPLIT: "MOD 0" }],
    [{ NCCL_TESTS_SPLIT_MASK: "g" }],
    [{ NCCL_TESTS_MIN_BW: "fast" }],
    [{ NCCL_TESTS_DEVICE: "-1" }],
  ])("%j is refused with 255", (variables) => {
    expect(() => readEnvironment(variables)).toThrow(expect.objectContaining({ exitCode: 255 }));
  });

  it("names the first device", () => expect(readEnvironment({ NCCL_TESTS_DEVICE: "2" }).firstDevice).toBe(2));
});
