import { type DataType, InvalidArgumentError, lookUp, type ReduceOp } from "@dfccl/primitives";

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
export const opNames = ["sum", "prod", "max", "min", "avg", "mulsum"] as const;

export type OpName = (typeof opNames)[number];

export function reduceOpOf(name: OpName): ReduceOp {
  if (!opNames.includes(name)) throw new InvalidArgumentError("op", name, `one of ${opNames.join(", ")}`);
  return name === "mulsum" ? "scaled-sum" : name;
}
