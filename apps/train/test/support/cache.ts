import { fileURLToPath } from "node:url";

/** Where tests keep prepared data: made once, ignored by git. */
export const cacheFolder = fileURLToPath(new URL("../../.cache", import.meta.url));
