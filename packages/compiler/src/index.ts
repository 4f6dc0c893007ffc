export { type CompileOptions, chunkDagOf, compile } from "./compile.js";
export type { CompiledProgram, Stages } from "./compiled-program.js";
export { describeInstruction, type FormattedStage, formatStages, programLines } from "./format-stages.js";
export type { ChunkReference, Directive } from "./language/chunk-reference.js";
export {
  type DirectForm,
  defineProgram,
  isProgramDefinition,
  type Language,
  type ProgramDefinition,
  type ProgramOptions,
} from "./language/define-program.js";
export {
  BadDirectiveError,
  ChunkOutOfRangeError,
  InputIsReadOnlyError,
  LanguageError,
  MisplacedDataError,
  MixedSpanError,
  NoSuchRankError,
  NotDirectError,
  NotInPhasesError,
  SpanMismatchError,
  StaleReferenceError,
  UninitialisedChunkError,
  WrongResultError,
} from "./language/errors.js";
export {
  allGather,
  allReduce,
  allToAll,
  broadcast,
  type CustomOptions,
  custom,
  gather,
  type RootedOptions,
  reduce,
  reduceScatter,
  type Signature,
  type SignatureOptions,
  scatter,
  sendRecv,
  type WritableBuffer,
} from "./language/signature.js";
export { formatSpan, type Span } from "./language/span.js";
export type { ChunkDag } from "./passes/chunk-dag.js";
export type { Instruction, InstructionGraph } from "./passes/instruction-graph.js";
export { MalformedXmlError, NotExpressibleError, UnsupportedXmlError } from "./xml/errors.js";
export { type ReadXmlOptions, readXml, type XmlAlgorithm } from "./xml/read-xml.js";
export { type WriteXmlOptions, writeXml } from "./xml/write-xml.js";
