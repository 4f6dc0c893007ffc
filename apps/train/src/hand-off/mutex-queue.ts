// What the flip-flop and the wave are measured against: a mutex and condition variables, as pthreads have them, over futexes.

const [unlocked, locked, contended] = [0, 1, 2];

/** A lock of one word: locked without contention it costs one exchange. */
export class Mutex {
  constructor(
    private readonly words: Int32Array,
    private readonly index: number,
  ) {}

  lock(): void {
    if (Atomics.compareExchange(this.words, this.index, unlocked, locked) === unlocked) return;
    while (Atomics.exchange(this.words, this.index, contended) !== unlocked) Atomics.wait(this.words, this.index, contended);
  }

  unlock(): void {
    if (Atomics.exchange(this.words, this.index, unlocked) === contended) Atomics.notify(this.words, this.index, 1);
  }
}

/** A condition variable of one word, which counts signals. */
export class Condition {
  constructor(
    private readonly words: Int32Array,
    private readonly index: number,
  ) {}

  /** @pre the mutex is locked, and is again afterwards. */
  wait(mutex: Mutex): void {
    const seen = Atomics.load(this.words, this.index);
    mutex.unlock();
    Atomics.wait(this.words, this.index, seen);
    mutex.lock();
  }

  /** @param count - waiters to wake. */
  signal(count: number): void {
    Atomics.add(this.words, this.index, 1);
    Atomics.notify(this.words, this.index, count);
  }
}

const capacity = 16;

/** A bounded queue behind a mutex: the lecture's first hand-off from loaders to a trainer. */
export class MutexQueue {
  static readonly bytes = 4 * (5 + capacity);
  private readonly mutex: Mutex;
  private readonly notEmpty: Condition;
  private readonly notFull: Condition;

  /** Words: mutex, two conditions, head, size, values. */
  constructor(private readonly words: Int32Array) {
    this.mutex = new Mutex(words, 0);
    this.notEmpty = new Condition(words, 1);
    this.notFull = new Condition(words, 2);
  }

  add(value: number): void {
    const { words } = this;
    this.mutex.lock();
    while (words[4] === capacity) this.notFull.wait(this.mutex);
    words[5 + (((words[3] ?? 0) + (words[4] ?? 0)) % capacity)] = value;
    words[4] = (words[4] ?? 0) + 1;
    this.mutex.unlock();
    this.notEmpty.signal(1);
  }

  take(): number {
    const { words } = this;
    this.mutex.lock();
    while (words[4] === 0) this.notEmpty.wait(this.mutex);
    const head = words[3] ?? 0;
    const value = words[5 + head] ?? 0;
    words[3] = (head + 1) % capacity;
    words[4] = (words[4] ?? 0) - 1;
    this.mutex.unlock();
    this.notFull.signal(1);
    return value;
  }
}
