export { DfcclError, InvalidArgumentError, type DfcclErrorOptions, type ErrorFacts } from "./errors.js";
export {
  byteSizeOf,
  dataTypeCode,
  dataTypeFromCode,
  dataTypes,
  holdsRawBits,
  isDataType,
  typedArrayOf,
  type DataType,
  type TypedArrayOf,
} from "./data-type.js";
export { isReduceOp, reduceOpCode, reduceOpFromCode, reduceOps, type ReduceOp } from "./reduce-op.js";
export {
  collectiveCode,
  collectiveFromCode,
  collectives,
  collectiveShape,
  hasInput,
  hasOutput,
  inputSegmentsOf,
  isCollective,
  outputSegmentsOf,
  takesReduceOp,
  takesRoot,
  type Collective,
  type CollectiveShape,
} from "./collective.js";
export {
  isProtocol,
  protocolCode,
  protocolFactsOf,
  protocolFromCode,
  protocols,
  wireBytes,
  type Protocol,
  type ProtocolFacts,
  type WireLayout,
} from "./protocol.js";
export { opCode, ops, opShapeOf, type Op, type OpShape } from "./op.js";
export { chunkCapacity, chunkLength, chunkOffset, scratchOffset, tileCount, type ChunkGeometry } from "./chunk-geometry.js";
export {
  bufferChunks,
  bufferKinds,
  createProgram,
  maxSlotChunks,
  type Block,
  type BufferKind,
  type ChunkRef,
  type Dependency,
  type LocalChunk,
  type Program,
  type ProgramSpec,
  type RankProgram,
  type RecvEnd,
  type SendEnd,
  type Step,
} from "./program.js";
export { inPlaceShift } from "./in-place.js";
export {
  BadFinishError,
  BadProgramError,
  BadStepError,
  BarrierError,
  ConnectionSharedError,
  CyclicProgramError,
  DataRaceError,
  MalformedProgramError,
  MisplacedChunkError,
  OutOfBoundsError,
  OverwrittenInputError,
  PayloadMismatchError,
  PostconditionError,
  ProgramError,
  UninitialisedReadError,
  UnmatchedSendError,
  type ConnectionName,
  type StepPosition,
  type Wait,
  type WaitReason,
} from "./program-errors.js";
export { programLayout, type Field, type RecordLayout } from "./layout.js";
export { decodeProgram, encodeAllRanks, encodeProgram, encodeRank, programDigest, type RankImage } from "./program-binary.js";
export {
  buildProgram,
  listAlgorithms,
  needsSharedMemory,
  UnsupportedAlgorithmError,
  type BuildableCollective,
  type BuildOptions,
  type Placement,
} from "./build-program.js";
export { algorithms, isAlgorithm, type Algorithm } from "./builders/algorithms.js";
export { verifyProgram, type VerificationReport, type VerifyOptions } from "./verifier/verify-program.js";
export { postconditionOf, type InputTerm, type Postcondition } from "./verifier/postcondition.js";
export { annotateFinish } from "./verifier/annotate-finish.js";
export {
  messageBytes,
  NoRuleFitsError,
  selectProgram,
  type PlatformFacts,
  type SelectionChoice,
  type SelectionRequest,
  type SelectionRule,
  type SelectionTable,
} from "./selection.js";
export { defaultSelectionTable } from "./selection-table.js";
export {
  compareRegistrations,
  registrationDigest,
  type AgreedRegistration,
  type RegistrationDifference,
} from "./registration.js";
export { interpretProgram, type InterpretOptions, type InterpretResult } from "./reference-interpreter.js";
