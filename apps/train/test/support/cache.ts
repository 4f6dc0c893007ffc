import { fileURLToPath } from "node:url";

/** Where tests keep prepared data, which is made once: in the folder that all caches of a clone share. */
export const cacheFolder = fileURLToPath(new URL("../../../../.cache/train", import.meta.url));
