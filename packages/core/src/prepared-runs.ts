import { InvalidArgumentError } from "@dfccl/primitives";
import type { RegisteredCollective, RunRequest } from "./api.js";
import type { CollectiveBuffer } from "./backend.js";
import { isRegisteredCollective, registrationOf } from "./registered-collective.js";
import { type RegisteringRank, type Registration, runAddressWords } from "./registration.js";

type Buffer = CollectiveBuffer | undefined | null;

const fewestRuns = 64;

/**
 * The runs of one submission, read from the caller's lists once: getters and proxies may say something else the next time,
 * throw while the queue is locked, or name a buffer that nobody has checked. Parallel arrays, so that it makes no objects.
 */
export class PreparedRuns {
  count = 0;
  readonly collectives: (RegisteredCollective | undefined)[] = [];
  readonly registrations: (Registration | undefined)[] = [];
  readonly sends: Buffer[] = [];
  readonly recvs: Buffer[] = [];
  readonly counts: (number | undefined)[] = [];
  /** Of each run, the words that say where its buffers lie. */
  addresses = new Float64Array(fewestRuns * runAddressWords);

  /** All that calls the caller's code. @throws {InvalidArgumentError}, and whatever that code throws. */
  read(requests: readonly RunRequest[]): void {
    const count = requests.length;
    // Of a proxy, it may be anything.
    if (!Number.isSafeInteger(count) || count < 0) throw new InvalidArgumentError("requests", requests, "a list of runs");
    const { collectives, registrations, sends, recvs, counts } = this;
    for (let i = 0; i < count; i += 1) {
      const request = requests[i];
      const collective = request?.[0];
      if (!request || !isRegisteredCollective(collective)) throw notRegistered(collective);
      collectives[i] = collective;
      registrations[i] = registrationOf(collective);
      sends[i] = request[1];
      recvs[i] = request[2];
      counts[i] = request[3];
    }
    this.count = count;
  }

  /**
   * @param rank - whose collectives they have to be.
   * @throws {InvalidArgumentError}, {BufferError}, {ClosedError}
   */
  check(rank: RegisteringRank): void {
    rank.engine.requireOpen(); // A getter may have closed it.
    const { count } = this;
    if (count * runAddressWords > this.addresses.length) this.addresses = new Float64Array(2 * count * runAddressWords);
    const { addresses, registrations, sends, recvs, counts } = this;
    for (let i = 0; i < count; i += 1) {
      const registration = registrations[i];
      if (registration?.rank !== rank) throw notRegistered(this.collectives[i]);
      registration.prepare(sends[i], recvs[i], counts[i], addresses, i * runAddressWords);
    }
  }

  /** Lets go of what it names, to be used again. */
  clear(): void {
    const { count, collectives, registrations, sends, recvs } = this;
    for (let i = 0; i < count; i += 1) {
      collectives[i] = undefined;
      registrations[i] = undefined;
      sends[i] = undefined;
      recvs[i] = undefined;
    }
    this.count = 0;
  }
}

function notRegistered(collective: RegisteredCollective | undefined): InvalidArgumentError {
  return new InvalidArgumentError("collective", collective?.name ?? collective, "a collective that this rank registered");
}
