import type { Step } from "../program.js";
import type { Builder, LaneContext } from "./builder.js";
import { input, output, recv, recvCopySend, recvReduceCopy, recvReduceCopySend, recvReduceSend, send } from "./step-factory.js";

// Between machines every byte costs more than within one, so it crosses as rarely as can be: the ranks of a machine first
// reduce among themselves, each a shard of its own; then each shard goes round a ring of its ranks, one on each machine;
// then the ranks of a machine give one another the results. Of a buffer of S bytes, 2 (H - 1) / H * S leave each of H
// machines, as many as one ring of machines would send, and 2 (H - 1) hops are all that wait for the network.
//
// Chunk (shard * H + part): a shard for each rank of a machine, a part for each machine. (GC3, section 7, has the same for
// GPUs of several nodes.)

/** @see machinesOf for which lists of hosts it is. */
export const hierarchicalAllReduce: Builder = {
  chunksPerLane: (rankCount) => rankCount,
  inPlace: true,
  outOfPlace: true,
  needsHosts: true,
  steps: (context) => {
    const { machines, host, own } = place(context);
    const [hosts, locals] = [machines.length, machines[0]?.length ?? 1];
    const chunk = (shard: number, part: number): number => context.chunk(shard * hosts + (part % hosts));
    const partner = (round: number): number => (own + round) % locals;
    const toLocal = (local: number) => context.to(at(machines, host, local));
    const rounds = Array.from({ length: locals - 1 }, (_, round) => round + 1);
    const parts = locals > 1 ? Array.from({ length: hosts }, (_, part) => part) : [];
    const steps: Step[] = [];
    for (const part of parts) {
      for (const round of rounds) steps.push(send(input(chunk(partner(round), part)), toLocal(partner(round))));
      const result = output(chunk(own, part));
      for (const round of rounds) {
        const mine = round === 1 ? input(chunk(own, part)) : result;
        steps.push(recvReduceCopy(result, mine, toLocal(partner(locals - round))));
      }
    }
    if (hosts > 1) {
      const next = context.to(at(machines, (host + 1) % hosts, own));
      const previous = context.to(at(machines, (host + hosts - 1) % hosts, own));
      const around = (distance: number): number => chunk(own, host + distance);
      const source = locals > 1 ? output : input;
      steps.push(send(source(around(0)), next));
      for (let hop = 1; hop < hosts - 1; hop += 1) steps.push(recvReduceSend(source(around(hosts - hop)), previous, next));
      steps.push(recvReduceCopySend(output(around(1)), source(around(1)), previous, next));
      for (let hop = 0; hop < hosts - 2; hop += 1) steps.push(recvCopySend(output(around(hosts - hop)), previous, next));
      steps.push(recv(output(around(2)), previous));
    }
    for (const part of parts) {
      for (const round of rounds) steps.push(send(output(chunk(own, part)), toLocal(partner(round))));
      for (const round of rounds) {
        const from = partner(locals - round);
        steps.push(recv(output(chunk(from, part)), toLocal(from)));
      }
    }
    return [steps];
  },
};

/**
 * Ranks by machine, in the order in which the machines first come.
 * @param hosts - `[rank]`: its machine.
 * @returns undefined where machines have unequal numbers of ranks.
 */
export function machinesOf(hosts: readonly number[]): readonly (readonly number[])[] | undefined {
  const machines = new Map<number, number[]>();
  hosts.forEach((host, rank) => {
    const ranks = machines.get(host) ?? [];
    machines.set(host, ranks);
    ranks.push(rank);
  });
  const all = [...machines.values()];
  return all.every((ranks) => ranks.length === all[0]?.length) ? all : undefined;
}

function place({ rank, everyRank, hosts }: LaneContext) {
  // Without a word about machines, each rank is on one of its own.
  const machines = machinesOf(hosts ?? everyRank) ?? everyRank.map((one) => [one]);
  const host = machines.findIndex((ranks) => ranks.includes(rank));
  return { machines, host, own: machines[host]?.indexOf(rank) ?? 0 };
}

function at(machines: readonly (readonly number[])[], host: number, local: number): number {
  return machines[host]?.[local] ?? 0;
}
