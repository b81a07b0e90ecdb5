import type { Actor } from './actors.ts'

const turnMs = 5

/** What came of one kind of client. */
export interface Tally {
  name: string
  done: number
  /** Not answered as they should have been. */
  wrong: number
  firstFault: string | null
}

/** Sends each actor at its rate, answered or not, until it is stopped. */
export class Crowd {
  readonly tallies: Tally[]
  readonly #actors: readonly Actor[]
  readonly #begun: number[]
  readonly #open = new Set<Promise<void>>()
  readonly #from = performance.now()
  readonly #timer: NodeJS.Timeout

  constructor(actors: readonly Actor[]) {
    this.#actors = actors
    this.#begun = actors.map(() => 0)
    this.tallies = actors.map(({ name }) => ({ name, done: 0, wrong: 0, firstFault: null }))
    this.#timer = setInterval(() => this.#sendDue(), turnMs)
  }

  get open(): number {
    return this.#open.size
  }

  get done(): number {
    return this.tallies.reduce((sum, { done }) => sum + done, 0)
  }

  get wrong(): number {
    return this.tallies.reduce((sum, { wrong }) => sum + wrong, 0)
  }

  /** Nothing new is sent; resolves when what is under way has ended. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all(this.#open)
  }

  #sendDue(): void {
    const seconds = (performance.now() - this.#from) / 1000
    for (const [index, actor] of this.#actors.entries())
      for (; this.#begun[index]! < Math.floor(seconds * actor.perSecond); this.#begun[index]!++)
        this.#send(index, actor)
  }

  #send(index: number, actor: Actor): void {
    const tally = this.tallies[index]!
    const call = actor.act().then(
      () => void tally.done++,
      (error: unknown) => {
        tally.wrong++
        tally.firstFault ??= `${new Date().toISOString()} ${String(error)}`
      },
    )
    this.#open.add(call)
    void call.finally(() => this.#open.delete(call))
  }
}
