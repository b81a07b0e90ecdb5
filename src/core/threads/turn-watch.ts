/** A turn of an event loop that kept everything else on its thread waiting. */
export interface LongTurn {
  ms: number
  /** CPU time of the thread itself: far less than `ms` if the machine had no time for it. */
  cpuMs: number
  /** What ran. */
  work: string
}

/** How often the watch looks, in milliseconds: a turn is known this exactly where nobody said what ran. */
const tickMs = 100
/** Longer turns are reported. */
const longMs = 500

const idle = 'unnamed work'

let kind = idle
let detail = ''
let since = performance.now()
const longest = { ms: 0, kind: idle, detail: '' }

/** What this thread does from here on. Costs a look at the clock; nothing is put together unless a turn is long. */
export function nowDoing(what: string, which: string): void {
  close(performance.now())
  kind = what
  detail = which
}

function close(now: number): void {
  const ms = now - since
  since = now
  // Unnamed work and waiting are noticed only by the clock.
  if (kind === idle || ms <= longest.ms) return
  longest.ms = ms
  longest.kind = kind
  longest.detail = detail
}

/** Time since any fixed moment, in milliseconds. */
export interface TurnClocks {
  now(): number
  /** CPU time of this thread. */
  cpu(): number
}

const threadClocks: TurnClocks = {
  now: () => performance.now(),
  cpu: () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1000
  },
}

/** Looks at its thread's clock from time to time: what comes too late was kept waiting. */
export class TurnWatch {
  readonly #clocks: TurnClocks
  readonly #report: (turn: LongTurn) => void
  #last: number
  #lastCpu: number

  constructor(report: (turn: LongTurn) => void, clocks = threadClocks) {
    this.#clocks = clocks
    this.#report = report
    this.#last = clocks.now()
    this.#lastCpu = clocks.cpu()
  }

  static readonly everyMs = tickMs

  /** To be called every `everyMs`. */
  tick(): void {
    const now = this.#clocks.now()
    const cpu = this.#clocks.cpu()
    close(now)
    const ms = Math.max(now - this.#last - tickMs, longest.ms)
    if (ms >= longMs) {
      const work = longest.ms >= ms / 2 ? `${longest.kind} ${longest.detail}`.trim() : idle
      this.#report({ ms: Math.round(ms), cpuMs: Math.round(cpu - this.#lastCpu), work })
    }
    this.#last = now
    this.#lastCpu = cpu
    kind = idle
    detail = ''
    longest.ms = 0
  }
}

/** Another thread counts as silent after this many checks in a row without a sign of life: 10 seconds. */
const silentTicks = 100

/** A sign of life of the control plane, in memory that all threads share. Counts looks, so that a process that was stopped is not blamed. */
export class Liveness {
  readonly #word: Int32Array
  #seen = 0
  #silent = 0

  constructor(memory: SharedArrayBuffer) {
    this.#word = new Int32Array(memory)
  }

  static memory(): SharedArrayBuffer {
    return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  }

  beat(): void {
    Atomics.add(this.#word, 0, 1)
  }

  /** To be called as often as the other side beats. */
  listen(): void {
    const seen = Atomics.load(this.#word, 0)
    // 0: the other side has not begun.
    this.#silent = seen !== 0 && seen === this.#seen ? this.#silent + 1 : 0
    this.#seen = seen
  }

  /** For how many seconds nothing was heard; 0: it lives. */
  get silentSeconds(): number {
    return this.#silent < silentTicks ? 0 : Math.floor((this.#silent * tickMs) / 1000)
  }
}
