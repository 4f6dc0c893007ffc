// What a process that hangs is at, before it is killed: by the debugger where there is one, else by what the system tells.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

const most = 60_000;

/** @returns each thread's stack, or its name, state and where in the system it sleeps; never throws. */
export function stacksOf(pid) {
  const arguments_ = ["-p", String(pid), "-batch", "-nx", "-ex", "thread apply all backtrace 40"];
  const debugged = spawnSync("gdb", arguments_, { encoding: "utf8", timeout: most, killSignal: "SIGKILL" });
  const frames = (debugged.stdout ?? "").split("\n").filter((line) => /^(Thread |#\d)/.test(line));
  return frames.length > 0 ? frames.join("\n") : threadsOf(pid);
}

function threadsOf(pid) {
  const read = (path) => {
    try {
      return readFileSync(path, "utf8").trim();
    } catch {
      return "?";
    }
  };
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const about = (id) => ["comm", "wchan", "syscall"].map((what) => read(`/proc/${pid}/task/${id}/${what}`)).join("  ");
    return threads.map((id) => `thread ${id}  ${about(id)}`).join("\n");
  } catch {
    return "it is gone";
  }
}
