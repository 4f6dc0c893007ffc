// The ten lines of a new user, run against the published packages on every supported Node.
import * as primitives from "@dfccl/primitives";

const names = Object.keys(primitives);
if (names.length === 0) throw new Error("@dfccl/primitives exports nothing");
console.log(`@dfccl/primitives exports ${names.length} names on Node ${process.versions.node}`);
