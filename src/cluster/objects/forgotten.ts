import type pg from 'pg'
import type { ForgottenObject } from '../../store/replica/shared-change.ts'

/** A transaction that began this much earlier may only commit now. */
const overlap = '30 seconds'

/** Objects that any node has forgotten, each once; all of them after a start. */
export class ForgottenFeed {
  #since: Date | null = null
  /** The newest entry read. Kept as a number because a new server's clock may be behind that of the one before. */
  #last = 0n
  #seen = new Set<string>()

  async read(client: pg.Client): Promise<ForgottenObject[]> {
    const { rows } = await client.query(
      `select number, type, id, provider_id as "providerId", credential_id as "credentialId",
         project_id as "projectId", environment_id as "environmentId", until, now()
       from spgw.forgotten
       where $1::timestamptz is null or time > $1::timestamptz - interval '${overlap}' or number > $2
       order by number`,
      [this.#since, String(this.#last)],
    )
    const fresh = rows.filter(({ number }) => !this.#seen.has(number))
    this.#since = rows.at(-1)?.now ?? this.#since
    for (const { number } of rows) if (BigInt(number) > this.#last) this.#last = BigInt(number)
    this.#seen = new Set(rows.map(({ number }) => number))
    return fresh.map(({ number: _, now: __, credentialId, ...object }) => {
      return { ...object, credentialId: credentialId || null }
    })
  }
}
