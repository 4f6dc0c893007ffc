import { type DataType, InvalidArgumentError, isDataType, typedArrayOf } from "@dfccl/primitives";
import type { Backend, BufferOf } from "../backend.js";
import { noteAllocated } from "../buffer-address.js";
import { callNative } from "../native-addon/native-error.js";
import type { LostRank } from "../native-addon/native-world.js";
import { Rank } from "../rank.js";

/** This process's rank in a world of processes; made by `joinWorld()`. Closing it leaves the world. */
export class JoinedRank<B extends Backend = "cpu"> extends Rank<B> implements Disposable, AsyncDisposable {
  /** Ranks of the world, those that are gone included. */
  get size(): number {
    return this.world.size;
  }

  /** Ranks that are gone: their processes ended, closed their world, or gave no sign of life for too long. */
  lostRanks(): readonly LostRank[] {
    this.world.requireOpen();
    return this.world.native.lostRanks();
  }

  /** The ranks that are still there: a list for `register({ ranks })`, to go on without the others. */
  survivors(): number[] {
    const lost = new Set(this.lostRanks().map(({ rank }) => rank));
    return Array.from({ length: this.size }, (_, rank) => rank).filter((rank) => !lost.has(rank));
  }

  /** Zeroed memory that the other processes can reach: what their part of a collective reads and writes directly. */
  override allocate<T extends DataType>(dataType: T, length: number): BufferOf<B, T> {
    if (this.world.backend === "cuda") return super.allocate(dataType, length);
    this.world.requireOpen();
    if (!isDataType(dataType)) throw new InvalidArgumentError("dataType", dataType, 'a data type such as "float32"');
    if (!Number.isInteger(length) || length < 0) throw new InvalidArgumentError("length", length, "a whole number of elements");
    const ArrayOfType = typedArrayOf(dataType);
    const buffer = callNative(() => this.world.native.allocate(length * ArrayOfType.BYTES_PER_ELEMENT));
    noteAllocated(buffer);
    return new ArrayOfType(buffer, 0, length) as BufferOf<B, T>;
  }

  /** Leaves the world and fails what is in flight. The other ranks' collectives with this one end with an error there. */
  close(): void {
    this.world.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }
}
