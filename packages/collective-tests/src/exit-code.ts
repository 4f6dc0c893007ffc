/** How nccl-tests' programs end. */
export const exitCodes = {
  ok: 0,
  internal: 1,
  cuda: 2,
  nccl: 3,
  timeout: 4,
  notImplemented: 5,
  invalidUsage: 6,
  /** A wrong result, or an average bus bandwidth below 0.9 of NCCL_TESTS_MIN_BW. */
  failed: 7,
  badArguments: 255,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
