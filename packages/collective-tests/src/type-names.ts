import { type DataType, isDefinedFor, lookUp, type ReduceOp } from "@dfccl/primitives";

/** nccl-tests' names of types, in the order in which "all" runs them. */
export const typeNames = [
  "int8",
  "uint8",
  "int32",
  "uint32",
  "int64",
  "uint64",
  "half",
  "float",
  "double",
  "bfloat16",
  "f8e4m3",
  "f8e5m2",
] as const;

export type TypeName = (typeof typeNames)[number];

const dataTypes: Readonly<Record<TypeName, DataType>> = {
  int8: "int8",
  uint8: "uint8",
  int32: "int32",
  uint32: "uint32",
  int64: "int64",
  uint64: "uint64",
  half: "float16",
  float: "float32",
  double: "float64",
  bfloat16: "bfloat16",
  f8e4m3: "float8e4m3",
  f8e5m2: "float8e5m2",
};

export function dataTypeOf(name: TypeName): DataType {
  return lookUp(dataTypes, "type", name);
}

/** nccl-tests' names of operators, in the order in which "all" runs them. mulsum scales rank r's input by 1 or 2. */
export const opsOfAll = ["sum", "prod", "max", "min", "avg", "mulsum"] as const;

/** And MPI's of those of bits, which nccl-tests hasn't. */
export const opNames = [...opsOfAll, "band", "bor", "bxor"] as const;

export type OpName = (typeof opNames)[number];

const reduceOps: Readonly<Record<OpName, ReduceOp>> = {
  sum: "sum",
  prod: "prod",
  max: "max",
  min: "min",
  avg: "avg",
  mulsum: "scaled-sum",
  band: "bit-and",
  bor: "bit-or",
  bxor: "bit-xor",
};

/** Whether the type's values can be reduced by the operator. */
export function isDefinedForType(op: OpName, type: TypeName): boolean {
  return isDefinedFor(reduceOpOf(op), dataTypeOf(type));
}

export function reduceOpOf(name: OpName): ReduceOp {
  return lookUp(reduceOps, "op", name);
}
