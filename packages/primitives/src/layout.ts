/**
 * Byte layout of the records of a binary program, field by field, as native/src/base/program.hpp declares them.
 * Little endian. The encoder and decoder work from these tables, and a test compares them with C++'s offsetof.
 */
export interface Field {
  readonly offset: number;
  readonly size: 1 | 2 | 4 | 8;
}

export interface RecordLayout<Name extends string> {
  readonly size: number;
  readonly fields: Readonly<Record<Name, Field>>;
}

/** Fields in order, without gaps; every one lies at a multiple of its size. */
function record<const Name extends string>(...fields: readonly (readonly [Name, Field["size"]])[]): RecordLayout<Name> {
  let offset = 0;
  const table = {} as Record<Name, Field>;
  for (const [name, size] of fields) {
    table[name] = { offset, size };
    offset += size;
  }
  return { size: offset, fields: table };
}

export const programMagic = 0x50434644;
export const programVersion = 1;
/** Stands for "none" in 32-bit fields. */
export const none32 = 0xffff_ffff;
/** Code of `BufferKind::none`. */
export const noBuffer = 3;

export const stepFlags = { directSend: 1, directRecv: 2, finish: 4 } as const;
export const programFlags = { inPlace: 1, usesDirect: 2, outOfPlace: 4, stepByStep: 8 } as const;

export const programHeaderLayout = record(
  ["magic", 4],
  ["version", 4],
  ["totalBytes", 4],
  ["flags", 4],
  ["rankCount", 4],
  ["rank", 4],
  ["collective", 4],
  ["protocol", 4],
  ["blockCount", 4],
  ["connectionCount", 4],
  ["stepCount", 4],
  ["refCount", 4],
  ["dependencyCount", 4],
  ["chunksPerSegment", 4],
  ["inputSegments", 4],
  ["outputSegments", 4],
  ["scratchChunks", 4],
  ["slotCount", 4],
  ["maxStepCount", 4],
  ["root", 4],
  ["digest", 8],
  ["reserved0", 4],
  ["reserved1", 4],
);

export const blockRecordLayout = record(["firstStep", 4], ["stepCount", 4], ["reserved0", 4], ["reserved1", 4]);

export const connectionRecordLayout = record(["peer", 4], ["channel", 4], ["isSend", 4], ["block", 4]);

export const stepRecordLayout = record(
  ["op", 1],
  ["flags", 1],
  ["srcBuffer", 1],
  ["dstBuffer", 1],
  ["srcChunk", 4],
  ["dstChunk", 4],
  ["count", 4],
  ["sendConnection", 4],
  ["recvConnection", 4],
  ["remoteBuffer", 1],
  ["landingBuffer", 1],
  ["isAwaited", 2],
  ["remoteChunk", 4],
  ["landingChunk", 4],
  ["firstRef", 4],
  ["sourceCount", 2],
  ["destinationCount", 2],
  ["firstDependency", 4],
  ["dependencyCount", 4],
  ["reserved0", 4],
  ["reserved1", 4],
  ["reserved2", 4],
);

export const chunkRefRecordLayout = record(["rank", 4], ["buffer", 4], ["chunk", 4], ["reserved0", 4]);

export const dependencyRecordLayout = record(["block", 4], ["step", 4], ["reserved0", 4], ["reserved1", 4]);

/** Every record by the name of its C++ struct. */
export const programLayout = {
  ProgramHeader: programHeaderLayout,
  BlockRecord: blockRecordLayout,
  ConnectionRecord: connectionRecordLayout,
  StepRecord: stepRecordLayout,
  ChunkRefRecord: chunkRefRecordLayout,
  DependencyRecord: dependencyRecordLayout,
} as const;
