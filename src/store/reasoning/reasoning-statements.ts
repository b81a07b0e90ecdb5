import type { Database, Statement } from 'better-sqlite3'
import type { ReasoningEntry } from '../../core/journal-format.ts'

/** In place of what is sealed: a response that was deleted. */
export const forgottenReasoning = ''

/** What ingestion and look-ups run on sealed reasoning, prepared once. */
export class ReasoningStatements {
  readonly #add: Statement<(string | number)[]>
  readonly #forget: Statement<string[]>
  readonly #find: Statement<string[], { name: string; sealed: string }>

  constructor(sqlite: Database) {
    this.#add = sqlite.prepare(
      'insert into reasoning (name, expires_at, sealed) values (?, ?, ?) on conflict (name) do update set expires_at = excluded.expires_at, sealed = excluded.sealed',
    )
    this.#forget = sqlite.prepare(`update reasoning set sealed = '${forgottenReasoning}' where name = ?`)
    this.#find = sqlite.prepare(
      'select reasoning.name, reasoning.sealed from json_each(?) as names cross join reasoning where reasoning.name = names.value',
    )
  }

  store({ name, expiresAt, sealed }: ReasoningEntry): void {
    this.#add.run(name, expiresAt, sealed)
  }

  /** The name stays, so that nobody else is asked for it. */
  forget(name: string): void {
    this.#forget.run(name)
  }

  find(names: readonly string[]): Record<string, string> {
    const rows = this.#find.all(JSON.stringify(names))
    return Object.fromEntries(rows.map(({ name, sealed }) => [name, sealed]))
  }
}
