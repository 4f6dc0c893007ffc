// Strangers at the port where ranks of several processes meet.
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { root } from "../../lib/paths.mjs";
import { faultOfEnd } from "../judge.mjs";
import { end, inFolder } from "../processes.mjs";

const core = join(root, "packages", "core", "dist", "index.js");
/** Rank 0 of two, of which the other never comes. */
const meeting = (port) => `
  import { joinWorld } from ${JSON.stringify(core)};
  const launch = { rank: 0, size: 2, job: "fuzz-${port}", address: "127.0.0.1:${port}" };
  try {
    const world = await joinWorld({ launch, secret: "0123456789abcdef0123456789abcdef", timeoutMs: 4000, workers: 0 });
    world.close();
  } catch (error) {
    if (error.code && error.facts && error.remedy) process.stdout.write("refused: " + error.code);
    else throw error;
  }`;

export async function tryCase(random) {
  const port = await freePort();
  const sent = [];
  const fault = await inFolder(async (cwd, env) => {
    const stop = { now: false };
    const process_ = end([process.execPath, "--input-type=module", "-e", meeting(port)], { cwd, env, interruptAfterMs: 0 });
    const strangers = (async () => {
      for (let calls = 1 + random.below(20); calls > 0 && !stop.now; calls -= 1) {
        const bytes = message(random);
        sent.push(bytes.toString("base64").slice(0, 200));
        await say(port, bytes, random.below(3));
      }
    })();
    const ended = await process_;
    stop.now = true;
    await strangers;
    const fault = faultOfEnd(ended);
    if (fault) return `${fault}\n${ended.stderr}`;
    return ended.stdout.startsWith("refused: ") ? undefined : `rank 0 ended without an error: ${ended.code} ${ended.stdout}`;
  });
  return fault && `${sent.join("\n")}\n${fault}`;
}

function message(random) {
  if (random.chance(0.3)) return Buffer.from(random.pick(["GET / HTTP/1.1\r\nHost: x\r\n\r\n", random.text(), "\x16\x03\x01\x02\x00"]));
  const bytes = Buffer.alloc(random.pick([0, 1, 4, 8, 16, 64, 256, 65_536]));
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = random.chance(0.3) ? 0 : random.below(256);
  if (bytes.length >= 8 && random.chance(0.5))
    bytes.writeUInt32LE(random.pick([0, 1, bytes.length, 2 ** 31, 2 ** 32 - 1]), random.pick([0, 4]));
  return bytes;
}

/** Sends and goes: at once, after an answer, or rudely. Whether anybody listens yet, or still, doesn't matter. */
function say(port, bytes, how) {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    const timer = setTimeout(() => socket.destroy(), 300);
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(timer);
      setTimeout(resolve, 20);
    });
    socket.on("connect", () => {
      socket.write(bytes);
      if (how === 0) socket.end();
      if (how === 1) socket.on("data", () => socket.end());
      if (how === 2) socket.resetAndDestroy();
    });
  });
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
