import type { CollectiveOptions } from "@dfccl/core";
import type { Collective } from "@dfccl/primitives";

/** Exchanges that a rank may register. */
export const maxChannels = 4096;

/** Stands in every channel's word once the run is stopped. */
export const stopped = -1;

/** What a rank's thread is started with. */
export interface RankStart {
  readonly rank: number;
  readonly ranks: number;
  /** File URL of the module whose default export is the rank's program. */
  readonly program: string;
  readonly args: unknown;
  /** For each channel how many of its runs have completed, or `stopped`: the conductor counts, the rank waits on the word. */
  readonly completed: Int32Array<SharedArrayBuffer>;
}

/** What a channel does: a collective without its number, which the conductor gives by name and ranks. */
export interface ChannelOptions extends Pick<CollectiveOptions, "count" | "op" | "root" | "priority"> {
  readonly collective: Exclude<Collective, "custom">;
  /** The same on all of the channel's ranks. */
  readonly name: string;
  readonly ranks: readonly number[];
}

/** Gradients that are averaged together in every step; the run's schedule may hold them back and group them. */
export interface GradientsOptions {
  /** The same on all ranks of the group. */
  readonly name: string;
  readonly ranks: readonly number[];
  readonly gradients: readonly { readonly name: string; readonly elements: number; readonly priority: number }[];
}

/** From a rank to the conductor. A bare number starts that channel once more: it is by far the most frequent. */
export type RankMessage =
  | number
  | {
      readonly kind: "channel";
      readonly channel: number;
      readonly options: ChannelOptions;
      readonly send: Float32Array<SharedArrayBuffer>;
      readonly recv: Float32Array<SharedArrayBuffer>;
    }
  | {
      readonly kind: "gradients";
      /** Of the first gradient; the others' follow. */
      readonly channel: number;
      readonly options: GradientsOptions;
      readonly memory: readonly Float32Array<SharedArrayBuffer>[];
    }
  | { readonly kind: "synchronize"; readonly channel: number }
  | { readonly kind: "report"; readonly value: unknown }
  | { readonly kind: "result"; readonly value: unknown };
