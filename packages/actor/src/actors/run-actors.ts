import type { Clock } from "../clock.js";
import { Actor } from "./actor.js";
import { ActorThread } from "./actor-thread.js";
import { type Bus, SequencedInbox } from "./bus.js";
import { checkPlan } from "./check-plan.js";
import { ActorProtocolError, ActorsStuckError, KernelError, type WaitingActor } from "./errors.js";
import { type ActorMessage, crossesRanks } from "./message.js";
import type { ActorPlan } from "./plan.js";
import { readPlan } from "./read-plan.js";
import type { RegisterSpec } from "./register-spec.js";
import { type CompleteRunOptions, completeRunOptions, type RunActorsOptions } from "./run-options.js";
import { type TaskId, threadBits } from "./task-id.js";

/** A run of a plan, under way. */
export interface ActorRun {
  /**
   * Resolves when every record has ended and every register is back.
   * Rejects with {@link ActorsStuckError}, {@link KernelError} or {@link ActorProtocolError}.
   */
  readonly finished: Promise<void>;
  /** Ends the sources' records; what they have sent is still worked off. */
  stop(): void;
}

/**
 * Executes a plan: an actor for each task, a thread for each stream, messages over the bus. All ranks of the plan are actors of
 * this thread of JavaScript. Given the clock, the bus and the choice of actors, runs are the same each time.
 * The registers of a plan, all of them together, are 2^23 at most.
 * @throws {PlanError}, InvalidArgumentError, UnknownOptionError before anything starts.
 */
export function runActors(plan: ActorPlan, options: RunActorsOptions = {}): ActorRun {
  const read = readPlan(plan);
  checkPlan(read);
  const system = new ActorSystem(read, completeRunOptions(options));
  system.start();
  return system;
}

class ActorSystem implements ActorRun {
  readonly finished: Promise<void>;
  private readonly actors = new Map<TaskId, Actor>();
  private readonly threads = new Map<bigint, ActorThread>();
  private readonly inbox = new SequencedInbox();
  private readonly unfinished: Set<Actor>;
  private readonly names: ReadonlyMap<TaskId, string>;
  private readonly clock: Clock;
  private readonly bus: Bus;
  /** Messages and kernels under way: with none left, nothing can ever change. */
  private underWay = 0;
  private isOver = false;
  private settle: { resolve: () => void; reject: (error: unknown) => void } = { resolve: () => undefined, reject: () => undefined };

  constructor(
    private readonly plan: ActorPlan,
    private readonly options: CompleteRunOptions,
  ) {
    const { clock, bus, pick, allocate } = options;
    this.clock = clock;
    this.bus = bus;
    this.names = new Map(plan.tasks.map(({ id, name }) => [id, name]));
    const specs = new Map(plan.registers.map((spec) => [spec.id, spec]));
    const specOf = (id: number): RegisterSpec => specs.get(id) as RegisterSpec; // checkPlan has seen to it
    for (const task of plan.tasks) {
      const actor = new Actor(task, specOf, allocate, (message) => this.send(message));
      this.actors.set(task.id, actor);
      const key = threadBits(task.id);
      const thread = this.threads.get(key) ?? new ActorThread(pick);
      thread.add(actor);
      this.threads.set(key, thread);
    }
    this.unfinished = new Set(this.actors.values());
    this.finished = new Promise<void>((resolve, reject) => {
      this.settle = { resolve, reject };
    });
  }

  start(): void {
    for (const { id: to } of this.plan.tasks) this.send({ kind: "command", to, command: "start" });
    if (this.plan.tasks.length === 0) this.settle.resolve();
  }

  stop(): void {
    if (this.isOver) return;
    for (const { id: to, consumes } of this.plan.tasks) if (consumes.length === 0) this.send({ kind: "command", to, command: "stop" });
  }

  private send(message: ActorMessage): void {
    if (this.isOver) return;
    this.underWay += 1;
    if (!crossesRanks(message) || this.options.isOrderKept === false) {
      this.bus.send(message, (arrived) => this.deliver([arrived]));
      return;
    }
    const sequence = this.inbox.number(message);
    this.bus.send(message, (arrived) => this.deliver(this.inbox.receive({ message: arrived, sequence })));
  }

  private deliver(messages: readonly ActorMessage[]): void {
    if (this.isOver) return;
    this.guarded(() => {
      for (const message of messages) {
        const actor = this.actors.get(message.to);
        if (actor === undefined) throw new ActorProtocolError(`task ${message.to}`, "is unknown and gets a message");
        this.underWay -= 1;
        actor.receive(message);
        this.goOn(actor);
      }
    });
    this.look();
  }

  /** Starts what can act on the actor's thread. */
  private goOn(changed: Actor): void {
    if (changed.isFinished) this.unfinished.delete(changed);
    const thread = this.threads.get(threadBits(changed.task.id));
    for (let actor = thread?.next(); actor !== undefined; actor = thread?.next()) this.act(actor, thread as ActorThread);
  }

  private act(actor: Actor, thread: ActorThread): void {
    const { task } = actor;
    const act = actor.begin();
    const beganAt = this.clock.now();
    let isDone = false;
    const done = (failure?: unknown): void => {
      if (isDone || this.isOver) return;
      isDone = true;
      if (failure !== undefined) {
        this.end(new KernelError(task.name, act.number, failure));
        return;
      }
      this.guarded(() => {
        this.underWay -= 1;
        this.options.onAct?.({ task: task.name, id: task.id, act: act.number, beganAt, endedAt: this.clock.now() });
        thread.release(actor);
        actor.end();
        if (!isWithin) this.goOn(actor);
      });
      if (!isWithin) this.look();
    };
    this.underWay += 1;
    let isWithin = true;
    try {
      task.kernel(act, done);
    } catch (error) {
      done(error);
    }
    isWithin = false;
    if (isDone && actor.isFinished) this.unfinished.delete(actor);
  }

  private guarded(change: () => void): void {
    try {
      change();
    } catch (error) {
      this.end(error);
    }
  }

  private look(): void {
    if (this.isOver) return;
    if (this.unfinished.size === 0) this.end();
    else if (this.underWay === 0) this.end(new ActorsStuckError(this.describeStuck()));
  }

  private end(failure?: unknown): void {
    if (this.isOver) return;
    this.isOver = true;
    if (failure === undefined) this.settle.resolve();
    else this.settle.reject(failure);
  }

  private describeStuck(): WaitingActor[] {
    const nameOf = (id: TaskId): string => this.names.get(id) ?? String(id);
    return [...this.unfinished].map((actor) => {
      const { inputs, outputs } = actor.missing();
      return {
        task: actor.task.name,
        inputsFrom: inputs.map(({ producer }) => nameOf(producer)),
        registersAt: [...new Set(outputs.flatMap(({ consumers }) => consumers.map(nameOf)))],
      };
    });
  }
}
