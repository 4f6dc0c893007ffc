export {
  type BuildableCollective,
  type BuildOptions,
  buildProgram,
  listAlgorithms,
  needsSharedMemory,
  type Placement,
  UnsupportedAlgorithmError,
} from "./build-program.js";
export { type Algorithm, algorithms, isAlgorithm } from "./builders/algorithms.js";
export { checkFunction, checkList, checkMethod, checkText } from "./check-kind.js";
export { checkInteger, checkNumber } from "./check-number.js";
export { checkObject } from "./check-object.js";
export { checkOptions, type OptionNames, UnknownOptionError } from "./check-options.js";
export { checkPath } from "./check-path.js";
export { checkProgram } from "./check-program.js";
export { type ChunkGeometry, chunkCapacity, chunkLength, chunkOffset, scratchOffset, tileCount } from "./chunk-geometry.js";
export {
  type Collective,
  type CollectiveShape,
  collectiveCode,
  collectiveFromCode,
  collectiveShape,
  collectives,
  hasInput,
  hasOutput,
  inputSegmentsOf,
  isCollective,
  outputSegmentsOf,
  takesReduceOp,
  takesRoot,
} from "./collective.js";
export {
  byteSizeOf,
  type DataType,
  dataTypeCode,
  dataTypeFromCode,
  dataTypes,
  holdsRawBits,
  isDataType,
  type TypedArrayOf,
  typedArrayOf,
} from "./data-type.js";
export { DfcclError, type DfcclErrorOptions, type ErrorFacts, formatValue, InvalidArgumentError, type Words } from "./errors.js";
export { isExchange } from "./exchange.js";
export { inPlaceShift } from "./in-place.js";
export { type Field, programLayout, type RecordLayout } from "./layout.js";
export { leastCommonMultiple } from "./least-common-multiple.js";
export { limits as programLimits } from "./limits.js";
export { lookUp } from "./look-up.js";
export { type Op, type OpShape, opCode, opShapeOf, ops } from "./op.js";
export {
  type Block,
  type BufferKind,
  bufferChunks,
  bufferKinds,
  type ChunkRef,
  createProgram,
  type Dependency,
  type LocalChunk,
  maxSlotChunks,
  type Program,
  type ProgramSpec,
  type RankProgram,
  type RecvEnd,
  type SendEnd,
  type Step,
} from "./program.js";
export { decodeProgram, encodeAllRanks, encodeProgram, encodeRank, programDigest, type RankImage } from "./program-binary.js";
export {
  BadFinishError,
  BadProgramError,
  BadStepError,
  BarrierError,
  type ConnectionName,
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
  type StepPosition,
  UninitialisedReadError,
  UnmatchedSendError,
  type Wait,
  type WaitReason,
} from "./program-errors.js";
export {
  type PassedOver,
  type ProgramChoice,
  type ProgramRequest,
  type ProgramRule,
  selectAmongPrograms,
} from "./program-selection.js";
export {
  isProtocol,
  type Protocol,
  type ProtocolFacts,
  protocolCode,
  protocolFactsOf,
  protocolFromCode,
  protocols,
  type WireLayout,
  wireBytes,
} from "./protocol.js";
export { SeededRandom } from "./random.js";
export { readArgument } from "./read-argument.js";
export { readPlain } from "./read-plain.js";
export { isDefinedFor, isReduceOp, type ReduceOp, reduceOpCode, reduceOpFromCode, reduceOps } from "./reduce-op.js";
export { type InterpretOptions, type InterpretResult, interpretProgram } from "./reference-interpreter.js";
export {
  type AgreedRegistration,
  compareRegistrations,
  type RegistrationDifference,
  registrationDigest,
} from "./registration.js";
export {
  messageBytes,
  NoRuleFitsError,
  type PlatformFacts,
  type SelectionRequest,
  selectProgram,
} from "./selection.js";
export { defaultSelectionTable, type SelectionChoice, type SelectionRule, type SelectionTable } from "./selection-table.js";
export { annotateFinish } from "./verifier/annotate-finish.js";
export { type InputTerm, type Postcondition, postconditionOf } from "./verifier/postcondition.js";
export { stepOrder } from "./verifier/step-order.js";
export { describeTerms, type Value, ValueFactory } from "./verifier/value.js";
export { type VerificationReport, type VerifyOptions, verifyProgram } from "./verifier/verify-program.js";
