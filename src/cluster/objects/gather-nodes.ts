import { randomBytes } from 'node:crypto'
import type { Postgres } from '../postgres.ts'
import { answerers } from '../questions.ts'
import { channel } from '../schema/configuration.ts'
import { type Gathered, Gathering } from './gathering.ts'

const callWord = 'gather'
const answerWord = 'gathered'
/** A notification holds 8,000 bytes. */
const failureLength = 300

export interface GatherNodesParts {
  postgres: Postgres
  /** Ships everything that this node has journaled. Null: it is in PostgreSQL; otherwise the reason why not. */
  flush(): Promise<string | null>
  /** This node's member id; null: it is alone. */
  member(): string | null
}

/** Asks other nodes, by notifications of PostgreSQL, to ship what they have stored. */
export class GatherNodes {
  readonly #parts: GatherNodesParts
  readonly #gathering: Gathering

  constructor(parts: GatherNodesParts) {
    this.#parts = parts
    this.#gathering = new Gathering({
      newWord: () => randomBytes(9).toString('base64url'),
      members: () => parts.postgres.ask((client) => answerers.members(client, null)),
      call: (word) => this.#notify(`${callWord} ${word}`),
    })
  }

  async gather(): Promise<Gathered> {
    return await this.#gathering.gather()
  }

  /** False: the notification is about something else. */
  hear(payload: string): boolean {
    const [kind, word = '', member = '', ...failure] = payload.split(' ')
    if (kind === answerWord) this.#gathering.hear(word, member, failure.length === 0 ? null : failure.join(' '))
    else if (kind === callWord) void this.#answer(word).catch(() => {})
    return kind === answerWord || kind === callWord
  }

  async #answer(word: string): Promise<void> {
    const member = this.#parts.member()
    if (member === null) return
    const failure = await this.#parts.flush()
    await this.#notify(
      `${answerWord} ${word} ${member}${failure === null ? '' : ` ${failure.slice(0, failureLength)}`}`,
    )
  }

  async #notify(payload: string): Promise<void> {
    await this.#parts.postgres.ask((client) => client.query('select pg_notify($1, $2)', [channel, payload]))
  }
}
