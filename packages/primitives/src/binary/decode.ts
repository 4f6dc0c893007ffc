import { collectiveFromCode, collectives } from "../collective.js";
import {
  blockRecordLayout,
  chunkRefRecordLayout,
  connectionRecordLayout,
  dependencyRecordLayout,
  noBuffer,
  none32,
  programFlags,
  programHeaderLayout,
  programMagic,
  programVersion,
  type RecordLayout,
  stepFlags,
  stepRecordLayout,
} from "../layout.js";
import { ops } from "../op.js";
import { type BufferKind, bufferKinds, type ChunkRef, type Dependency, type LocalChunk, maxSlotChunks, type Step } from "../program.js";
import { MalformedProgramError } from "../program-errors.js";
import { protocolFromCode, protocols } from "../protocol.js";
import { encodeRankImage } from "./encode.js";
import type { RankImage } from "./rank-image.js";
import { RecordReader } from "./record-reader.js";

type StepReader = RecordReader<keyof typeof stepRecordLayout.fields>;
type ConnectionReader = RecordReader<keyof typeof connectionRecordLayout.fields>;

/**
 * Reads bytes from anywhere. What comes back is well formed and was canonically encoded; whether it is a right program
 * is for the verifier to say.
 * @throws {MalformedProgramError} and nothing else.
 */
export function decodeRankImage(bytes: Uint8Array): RankImage {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const header = new RecordReader(view, programHeaderLayout, 0);
  header.require("magic", `0x${programMagic.toString(16)}`, (value) => value === programMagic);
  header.require("version", `${programVersion}`, (value) => value === programVersion);
  header.require("totalBytes", `${bytes.byteLength}`, (value) => value === bytes.byteLength);

  let position: number = programHeaderLayout.size;
  const table = <Name extends string>(layout: RecordLayout<Name>, count: number): RecordReader<Name>[] => {
    // Checked before the loop, so that a huge count in a small file costs nothing.
    if (position + count * layout.size > bytes.byteLength) {
      throw new MalformedProgramError(`${count} records of ${layout.size} bytes don't fit`, position, { count });
    }
    const start = position;
    position += count * layout.size;
    return Array.from({ length: count }, (_, index) => new RecordReader(view, layout, start + index * layout.size));
  };
  const blockReaders = table(blockRecordLayout, header.get("blockCount"));
  const connections = table(connectionRecordLayout, header.get("connectionCount"));
  const stepReaders = table(stepRecordLayout, header.get("stepCount"));
  const refs = table(chunkRefRecordLayout, header.get("refCount")).map(readRef);
  const dependencies = table(dependencyRecordLayout, header.get("dependencyCount")).map(readDependency);
  if (position !== bytes.byteLength) throw new MalformedProgramError("bytes are left over after the last record", position);

  const nextRefs = inOrder(refs);
  const nextDependencies = inOrder(dependencies);
  const steps = stepReaders.map((reader) => readStep(reader, connections, nextRefs, nextDependencies));
  const nextSteps = inOrder(steps);
  const blocks = blockReaders.map((reader) => ({ steps: nextSteps(reader, "firstStep", reader.get("stepCount")) }));
  const flags = header.get("flags");
  const root = header.get("root");
  const image: RankImage = {
    collective: collectiveFromCode(header.require("collective", "a collective", (value) => value < collectives.length)),
    rankCount: header.get("rankCount"),
    rank: header.require("rank", "less than rankCount", (value) => value < header.get("rankCount")),
    ...(root === none32 ? {} : { root }),
    protocol: protocolFromCode(header.require("protocol", "a protocol", (value) => value < protocols.length)),
    chunksPerSegment: header.get("chunksPerSegment"),
    inputSegments: header.get("inputSegments"),
    outputSegments: header.get("outputSegments"),
    slotCount: header.get("slotCount"),
    maxStepCount: header.get("maxStepCount"),
    inPlace: (flags & programFlags.inPlace) !== 0,
    outOfPlace: (flags & programFlags.outOfPlace) !== 0,
    usesDirect: (flags & programFlags.usesDirect) !== 0,
    stepByStep: (flags & programFlags.stepByStep) !== 0,
    digest: header.getBigint("digest"),
    program: { blocks, scratchChunks: header.get("scratchChunks") },
  };
  const needed = maxSlotChunks(image.program);
  header.require("maxStepCount", `at least ${needed}, as its own steps need`, (value) => value >= needed);
  requireCanonical(bytes, image);
  return image;
}

/** Takes the records that an owner claims: they must follow those of the owner before it. */
type TakeInOrder<Item> = <Name extends string>(reader: RecordReader<Name>, firstField: Name, count: number) => readonly Item[];

/** Items belong to one owner each, so a small file can't blow up by letting many owners claim the same ones. */
function inOrder<Item>(items: readonly Item[]): TakeInOrder<Item> {
  let position = 0;
  return (reader, firstField, count) => {
    reader.require(firstField, `${position}, where the one before ends`, (value) => value === position);
    if (position + count > items.length) reader.fail(firstField, `and ${count} more lead beyond the ${items.length} records`);
    position += count;
    return items.slice(position - count, position);
  };
}

function readStep(
  reader: StepReader,
  connections: readonly ConnectionReader[],
  nextRefs: TakeInOrder<ChunkRef>,
  nextDependencies: TakeInOrder<Dependency>,
): Step {
  const op = ops[reader.require("op", "an instruction", (value) => value < ops.length)] ?? "nop";
  const flags = reader.get("flags");
  const chunk = (buffer: "srcBuffer" | "dstBuffer" | "remoteBuffer" | "landingBuffer", index: number): LocalChunk | undefined => {
    const kind = bufferFromCode(reader.require(buffer, "a buffer or none", (value) => value <= noBuffer));
    return kind === undefined ? undefined : { buffer: kind, chunk: index };
  };
  const end = (field: "sendConnection" | "recvConnection"): { peer: number; channel: number } | undefined => {
    const index = reader.get(field);
    if (index === none32) return undefined;
    const connection = connections[index];
    if (connection === undefined) return reader.fail(field, `is ${index}, there are ${connections.length} connections`);
    if ((connection.get("isSend") === 1) !== (field === "sendConnection")) return reader.fail(field, "is the wrong end");
    return { peer: connection.get("peer"), channel: connection.get("channel") };
  };
  const sourceCount = reader.get("sourceCount");
  const refs = nextRefs(reader, "firstRef", sourceCount + reader.get("destinationCount"));
  const dependsOn = nextDependencies(reader, "firstDependency", reader.get("dependencyCount"));
  const src = chunk("srcBuffer", reader.get("srcChunk"));
  const dst = chunk("dstBuffer", reader.get("dstChunk"));
  const send = end("sendConnection");
  const recv = end("recvConnection");
  const remote = (flags & stepFlags.directSend) === 0 ? undefined : chunk("remoteBuffer", reader.get("remoteChunk"));
  const landing = (flags & stepFlags.directRecv) === 0 ? undefined : chunk("landingBuffer", reader.get("landingChunk"));
  return {
    op,
    ...(src ? { src } : {}),
    ...(dst ? { dst } : {}),
    count: reader.get("count"),
    ...(send ? { send: { ...send, ...(remote ? { remote } : {}) } } : {}),
    ...(recv ? { recv: { ...recv, ...(landing ? { landing } : {}) } } : {}),
    ...(refs.length > 0 ? { sources: refs.slice(0, sourceCount), destinations: refs.slice(sourceCount) } : {}),
    ...(dependsOn.length > 0 ? { dependsOn } : {}),
    ...((flags & stepFlags.finish) === 0 ? {} : { finish: true }),
  };
}

function readRef(reader: RecordReader<keyof typeof chunkRefRecordLayout.fields>): ChunkRef {
  const buffer = bufferFromCode(reader.require("buffer", "a buffer", (value) => value < noBuffer)) ?? "input";
  return { rank: reader.get("rank"), buffer, chunk: reader.get("chunk") };
}

function readDependency(reader: RecordReader<keyof typeof dependencyRecordLayout.fields>): Dependency {
  return { block: reader.get("block"), step: reader.get("step") };
}

function bufferFromCode(code: number): BufferKind | undefined {
  return bufferKinds[code];
}

/**
 * Everything that the records say twice, or that must be 0, is checked at once: the image's own encoding must be the
 * very same bytes. So no two byte strings mean the same program, and a digest over the bytes is one over the meaning.
 */
function requireCanonical(bytes: Uint8Array, image: RankImage): void {
  let canonical: Uint8Array;
  try {
    canonical = encodeRankImage(image);
  } catch (cause) {
    throw new MalformedProgramError(cause instanceof Error ? cause.message : String(cause), programHeaderLayout.size);
  }
  const length = Math.max(bytes.length, canonical.length);
  for (let offset = 0; offset < length; offset += 1) {
    if (bytes[offset] !== canonical[offset]) {
      throw new MalformedProgramError("it isn't what the same program is encoded to", offset, { canonical: canonical[offset] });
    }
  }
}
