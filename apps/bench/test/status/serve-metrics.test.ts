import { expect, it } from "vitest";
import { serveMetrics } from "../../src/status/serve-metrics.js";

it("metrics are answered with 503 while the worlds can't be read, and served again afterwards", async () => {
  let isReadable = false;
  const inspect = () => {
    if (!isReadable) throw new Error("no worlds to be seen");
    return [];
  };
  await using server = await serveMetrics(inspect, "127.0.0.1", 0);
  const unreadable = await fetch(server.url);
  expect([unreadable.status, await unreadable.text()]).toEqual([503, "Error: no worlds to be seen\n"]);
  isReadable = true;
  expect((await fetch(server.url)).status).toBe(200);
  expect((await fetch(server.url.replace("metrics", "other"))).status).toBe(404);
});
