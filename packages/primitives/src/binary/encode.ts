import { collectiveCode } from "../collective.js";
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
  stepFlags,
  stepRecordLayout,
} from "../layout.js";
import { opCode } from "../op.js";
import { bufferKinds, type ChunkRef, type Dependency, type LocalChunk, type Step } from "../program.js";
import { protocolCode } from "../protocol.js";
import { ConnectionTable } from "./connection-table.js";
import type { RankImage } from "./rank-image.js";
import { RecordWriter } from "./record-writer.js";

/** Writes a rank's program in its one canonical form: the same image gives the same bytes. */
export function encodeRankImage(image: RankImage): Uint8Array {
  const { blocks } = image.program;
  const steps = blocks.flatMap((block) => block.steps);
  const connections = new ConnectionTable(image.rank, blocks);
  const refs = steps.flatMap(refsOf);
  const dependencies = steps.flatMap((step) => step.dependsOn ?? []);
  const awaited = new Set(dependencies.map(dependencyKey));
  const totalBytes =
    programHeaderLayout.size +
    blocks.length * blockRecordLayout.size +
    connections.records.length * connectionRecordLayout.size +
    steps.length * stepRecordLayout.size +
    refs.length * chunkRefRecordLayout.size +
    dependencies.length * dependencyRecordLayout.size;

  const writer = new RecordWriter(totalBytes);
  writer.write(programHeaderLayout, {
    magic: programMagic,
    version: programVersion,
    totalBytes,
    flags:
      (image.inPlace ? programFlags.inPlace : 0) |
      (image.usesDirect ? programFlags.usesDirect : 0) |
      (image.outOfPlace ? programFlags.outOfPlace : 0) |
      (image.stepByStep ? programFlags.stepByStep : 0),
    rankCount: image.rankCount,
    rank: image.rank,
    collective: collectiveCode(image.collective),
    protocol: protocolCode(image.protocol),
    blockCount: blocks.length,
    connectionCount: connections.records.length,
    stepCount: steps.length,
    refCount: refs.length,
    dependencyCount: dependencies.length,
    chunksPerSegment: image.chunksPerSegment,
    inputSegments: image.inputSegments,
    outputSegments: image.outputSegments,
    scratchChunks: image.program.scratchChunks,
    slotCount: image.slotCount,
    maxStepCount: image.maxStepCount,
    root: image.root ?? none32,
    digest: image.digest,
  });

  let firstStep = 0;
  for (const block of blocks) {
    writer.write(blockRecordLayout, { firstStep, stepCount: block.steps.length });
    firstStep += block.steps.length;
  }
  for (const connection of connections.records) writer.write(connectionRecordLayout, connection);

  let firstRef = 0;
  let firstDependency = 0;
  blocks.forEach((block, blockIndex) => {
    block.steps.forEach((step, stepIndex) => {
      const isAwaited = awaited.has(dependencyKey({ block: blockIndex, step: stepIndex })) ? 1 : 0;
      writer.write(stepRecordLayout, stepRecord(step, connections, { isAwaited, firstRef, firstDependency }));
      firstRef += refsOf(step).length;
      firstDependency += step.dependsOn?.length ?? 0;
    });
  });
  for (const ref of refs) {
    writer.write(chunkRefRecordLayout, { rank: ref.rank, buffer: bufferCode(ref), chunk: ref.chunk });
  }
  for (const { block, step } of dependencies) writer.write(dependencyRecordLayout, { block, step });
  return writer.bytes;
}

function stepRecord(
  step: Step,
  connections: ConnectionTable,
  place: { isAwaited: number; firstRef: number; firstDependency: number },
): Partial<Record<keyof typeof stepRecordLayout.fields, number>> {
  const remote = step.send?.remote;
  const landing = step.recv?.landing;
  return {
    op: opCode(step.op),
    flags: (remote ? stepFlags.directSend : 0) | (landing ? stepFlags.directRecv : 0) | (step.finish ? stepFlags.finish : 0),
    srcBuffer: bufferCode(step.src),
    dstBuffer: bufferCode(step.dst),
    srcChunk: step.src?.chunk ?? 0,
    dstChunk: step.dst?.chunk ?? 0,
    count: step.count,
    sendConnection: step.send ? connections.indexOf("send", step.send) : none32,
    recvConnection: step.recv ? connections.indexOf("recv", step.recv) : none32,
    remoteBuffer: bufferCode(remote),
    landingBuffer: bufferCode(landing),
    remoteChunk: remote?.chunk ?? 0,
    landingChunk: landing?.chunk ?? 0,
    sourceCount: step.sources?.length ?? 0,
    destinationCount: step.destinations?.length ?? 0,
    dependencyCount: step.dependsOn?.length ?? 0,
    ...place,
  };
}

function refsOf(step: Step): readonly ChunkRef[] {
  return [...(step.sources ?? []), ...(step.destinations ?? [])];
}

function bufferCode(chunk: LocalChunk | undefined): number {
  return chunk === undefined ? noBuffer : bufferKinds.indexOf(chunk.buffer);
}

function dependencyKey({ block, step }: Dependency): string {
  return `${block}.${step}`;
}
