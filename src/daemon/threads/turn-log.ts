import type { ThreadTurns } from '../../admin/handlers/context.ts'
import { type Liveness, type LongTurn, TurnWatch } from '../../core/threads/turn-watch.ts'
import type { Log } from '../log.ts'

/** Long turns of all threads: logged as they happen, and counted since the start. */
export class TurnLog {
  readonly #log: Log
  readonly #threads = new Map<string, ThreadTurns>()
  #timer: NodeJS.Timeout | undefined

  constructor(log: Log) {
    this.#log = log
  }

  /** Watches this thread too, and gives the others a sign of life. */
  start(liveness: Liveness): void {
    const watch = new TurnWatch((turn) => this.report('control plane', turn))
    this.#timer = setInterval(() => {
      liveness.beat()
      watch.tick()
    }, TurnWatch.everyMs).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  report(thread: string, { ms, cpuMs, work }: LongTurn): void {
    this.#log.warn('a turn of the event loop was long', { thread, ms, cpu_ms: cpuMs, work })
    const before = this.#threads.get(thread)
    this.#threads.set(thread, {
      thread,
      count: (before?.count ?? 0) + 1,
      longestMs: Math.max(before?.longestMs ?? 0, ms),
      lastAt: new Date().toISOString(),
      lastWork: work,
    })
  }

  list(): ThreadTurns[] {
    return [...this.#threads.values()]
  }
}
