// A real browser, by Chromium's DevTools protocol over two pipes: no port, and nothing to install besides.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onPath } from "./machine.mjs";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** @returns the browser's program, or undefined: not every machine has one. */
export const browserProgram = () => names.find(onPath);

/** @returns {page, close}: one page, and what ends the browser and forgets what it kept. */
export async function openBrowser(program) {
  const profile = mkdtempSync(join(tmpdir(), "dfccl-browser-"));
  // A sandbox of its own is refused to root, and in most containers.
  const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--remote-debugging-pipe"];
  const child = spawn(program, [...flags, `--user-data-dir=${profile}`, "about:blank"], {
    stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const send = connect(child, ended);
  const close = async () => {
    await Promise.race([send("Browser.close").catch(() => undefined), ended]);
    await ended;
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const { targetId } = await send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
    return { page: await pageOf((method, params) => send(method, params, sessionId), send.onEvent), close };
  } catch (error) {
    child.kill("SIGKILL");
    await close();
    throw error;
  }
}

/** Messages are JSON, each with a zero behind it. @returns a function that sends one and awaits its answer. */
function connect(child, ended) {
  const [, , , toBrowser, fromBrowser] = child.stdio;
  const waiting = new Map();
  const listeners = [];
  let [next, text] = [1, ""];
  fromBrowser.setEncoding("utf8").on("data", (part) => {
    const messages = (text + part).split("\0");
    text = messages.pop();
    for (const message of messages.map((one) => JSON.parse(one))) {
      const answer = waiting.get(message.id);
      waiting.delete(message.id);
      if (answer === undefined) for (const listen of listeners) listen(message);
      else if (message.error) answer.reject(new Error(message.error.message));
      else answer.resolve(message.result);
    }
  });
  toBrowser.on("error", () => undefined);
  const giveUp = () => {
    for (const { reject } of waiting.values()) reject(new Error("the browser ended"));
  };
  ended.then(giveUp);
  child.once("error", giveUp);
  const send = (method, params = {}, sessionId = undefined) =>
    new Promise((resolve, reject) => {
      const id = next++;
      waiting.set(id, { resolve, reject });
      toBrowser.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  send.onEvent = (listen) => listeners.push(listen);
  return send;
}

/** @returns {open, run, type, press, faults}. */
async function pageOf(send, onEvent) {
  const faults = [];
  let loaded;
  onEvent(({ method, params }) => {
    if (method === "Page.loadEventFired") loaded?.();
    if (method === "Runtime.exceptionThrown") faults.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === "Log.entryAdded" && params.entry.level === "error") faults.push(`${params.entry.text} ${params.entry.url ?? ""}`);
  });
  for (const domain of ["Page", "Runtime", "Log"]) await send(`${domain}.enable`);
  const run = async (work, ...args) => {
    const expression = `(${work})(${args.map((value) => JSON.stringify(value)).join(",")})`;
    const { result, exceptionDetails } = await send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  return {
    /** What went wrong in the page by itself, since the last call. */
    faults: () => faults.splice(0),
    open: async (url) => {
      const whole = new Promise((resolve) => {
        loaded = resolve;
      });
      const { errorText } = await send("Page.navigate", { url });
      if (errorText) throw new Error(`${url}: ${errorText}`);
      await whole;
    },
    /** Runs a function in the page. */
    run,
    type: (text) => send("Input.insertText", { text }),
    press: async (key) => {
      for (const type of ["keyDown", "keyUp"])
        await send("Input.dispatchKeyEvent", {
          type,
          key,
          code: key,
          windowsVirtualKeyCode: { Enter: 13 }[key],
          text: type === "keyDown" ? "\r" : undefined,
        });
    },
  };
}
