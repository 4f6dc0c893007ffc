import type { ChunkRef, Dependency, LocalChunk, RecvEnd, SendEnd, Step } from "../program.js";

// Short ways to write the steps that builders are made of. Operands in the order of an assignment: destination first.

export function input(chunk: number): LocalChunk {
  return { buffer: "input", chunk };
}

export function output(chunk: number): LocalChunk {
  return { buffer: "output", chunk };
}

export function scratch(chunk: number): LocalChunk {
  return { buffer: "scratch", chunk };
}

/** The same chunk on another rank, or on this one, for multiReduceCopy. */
export function on(rank: number, { buffer, chunk }: LocalChunk): ChunkRef {
  return { rank, buffer, chunk };
}

export function copy(dst: LocalChunk, src: LocalChunk, count = 1): Step {
  return { op: "copy", dst, src, count };
}

export function send(src: LocalChunk, to: SendEnd, count = 1): Step {
  return { op: "send", src, send: to, count };
}

export function recv(dst: LocalChunk, from: RecvEnd, count = 1): Step {
  return { op: "recv", dst, recv: from, count };
}

/** A message without payload. */
export function signal(to: SendEnd): Step {
  return { op: "send", send: to, count: 0 };
}

export function awaitSignal(from: RecvEnd): Step {
  return { op: "recv", recv: from, count: 0 };
}

export function recvCopySend(dst: LocalChunk, from: RecvEnd, to: SendEnd, count = 1): Step {
  return { op: "recvCopySend", dst, recv: from, send: to, count };
}

export function recvReduceCopy(dst: LocalChunk, src: LocalChunk, from: RecvEnd, count = 1): Step {
  return { op: "recvReduceCopy", dst, src, recv: from, count };
}

export function recvReduceSend(src: LocalChunk, from: RecvEnd, to: SendEnd, count = 1): Step {
  return { op: "recvReduceSend", src, recv: from, send: to, count };
}

export function recvReduceCopySend(dst: LocalChunk, src: LocalChunk, from: RecvEnd, to: SendEnd, count = 1): Step {
  return { op: "recvReduceCopySend", dst, src, recv: from, send: to, count };
}

/** Reads and writes whole sets of ranks at once. The order of the sources decides the bits. */
export function multiReduceCopy(destinations: readonly ChunkRef[], sources: readonly ChunkRef[], count = 1): Step {
  return { op: "multiReduceCopy", destinations, sources, count };
}

export function after(step: Step, ...dependsOn: readonly Dependency[]): Step {
  return { ...step, dependsOn };
}
