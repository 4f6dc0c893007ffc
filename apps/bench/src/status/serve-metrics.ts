import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { WorldStatus } from "@dfccl/core";
import { DfcclError } from "@dfccl/primitives";
import { metricsOf } from "./metrics.js";

/** The metrics can't be served there. `facts` are {host, port}. */
export class ListenError extends DfcclError {
  override readonly code = "LISTEN";

  constructor(host: string, port: number, cause: unknown) {
    super(`Metrics can't be served on ${host}:${port} (${cause instanceof Error ? cause.message : String(cause)}).`, {
      facts: { host, port },
      remedy: "Name a free port, and an address of this machine.",
      cause,
    });
  }
}

export interface MetricsServer extends AsyncDisposable {
  readonly url: string;
}

/**
 * Serves GET /metrics: what `inspect` says when it is asked.
 * @param port - 0: any that is free.
 * @throws {ListenError}
 */
export async function serveMetrics(inspect: () => readonly WorldStatus[], host: string, port: number): Promise<MetricsServer> {
  const server = createServer((request, response) => {
    if (request.method !== "GET" || request.url !== "/metrics") {
      response.writeHead(404, { "content-type": "text/plain" }).end("GET /metrics\n");
      return;
    }
    try {
      // Before the head, after which there is no other answer.
      const metrics = metricsOf(inspect());
      response.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }).end(metrics);
    } catch (error) {
      response.writeHead(503, { "content-type": "text/plain" }).end(`${String(error)}\n`);
    }
  });
  // Whoever connects and says nothing is cut off.
  server.requestTimeout = server.headersTimeout = 5_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(new ListenError(host, port, error)));
    server.listen(port, host, resolve);
  });
  const { address, port: chosen, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === "IPv6" ? `[${address}]` : address}:${chosen}/metrics`,
    [Symbol.asyncDispose]: () => closed(server),
  };
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
