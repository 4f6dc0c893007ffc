import { nativePrograms } from "../../src/perf/find-programs.js";

/** Builds the native loops once, before any test: two builds in one folder at a time would break each other. */
export default async function buildNativeLoop(): Promise<void> {
  process.env.DFCCL_PERF_PROGRAMS = await nativePrograms("perf");
}
