import { setTimeout as wait } from 'node:timers/promises'

export interface ProbeAnswer {
  sentAt: number
  doneAt: number
  /** null: no answer came. */
  status: number | null
}

/** A client that asks at a steady pace and notes what it gets. */
export class Probe {
  readonly answers: ProbeAnswer[] = []
  readonly #ask: () => Promise<Response>
  readonly #done: Promise<void>
  #over = false

  /** `pauseMs` between the end of one and the next. */
  constructor(ask: () => Promise<Response>, pauseMs: number) {
    this.#ask = ask
    this.#done = this.#run(pauseMs)
  }

  async end(): Promise<ProbeAnswer[]> {
    this.#over = true
    await this.#done
    return this.answers
  }

  async #run(pauseMs: number): Promise<void> {
    while (!this.#over) {
      this.answers.push(await probe(this.#ask))
      await wait(pauseMs)
    }
  }
}

export async function probe(ask: () => Promise<Response>): Promise<ProbeAnswer> {
  const sentAt = performance.now()
  const status = await ask().then(
    async (response) => {
      await response.arrayBuffer()
      return response.status
    },
    () => null,
  )
  return { sentAt, doneAt: performance.now(), status }
}

/** A chat with a model that costs nothing; `mark` for requests that are held against the account. */
export function chat(baseUrl: string, key: string, model = 'gpt-4o-mini'): Promise<Response> {
  return fetch(`${baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, max_completion_tokens: 5, messages: [{ role: 'user', content: 'hello' }] }),
  })
}

/** The value that so much of them are not above, in whole milliseconds. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other)
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN)
}

/** The most of what was answered with 200 that began and ended within any span of that length. */
export function mostWithin(answers: readonly ProbeAnswer[], spanMs: number): number {
  const passed = answers.filter(({ status }) => status === 200).sort((one, other) => one.sentAt - other.sentAt)
  return passed.reduce((most, { sentAt }) => {
    const within = passed.filter((other) => other.sentAt >= sentAt && other.doneAt < sentAt + spanMs).length
    return Math.max(most, within)
  }, 0)
}
