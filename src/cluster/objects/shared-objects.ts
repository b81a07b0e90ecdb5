import type pg from 'pg'
import type { CountedPlace } from '../../core/objects/object-question.ts'
import type { StoredObject } from '../../core/objects/stored-object.ts'
import { toStoredObject } from '../../store/objects/object-rows.ts'
import type { ObjectFilter } from '../../store/objects/object-tables.ts'
import type { ObjectsAsked, SharedChange, SharedPage } from '../../store/replica/shared-change.ts'
import type { ObjectRow } from '../../store/schema.ts'
import { OwnConnection } from '../own-connection.ts'
import type { PostgresAddress } from '../protocol.ts'
import { readCountedBehind, readHeldWork } from '../records/claim-usage.ts'
import type { Gathered } from './gathering.ts'
import { SharedUploads } from './shared-uploads.ts'
import { columns } from './write-changes.ts'

/** A request waits for it. */
const statementMs = 2000

/** Rows in one SQLite transaction. */
const rowsAtOnce = 500

/** What all nodes have stored besides records, read from PostgreSQL. */
export class SharedObjects {
  readonly #connection: OwnConnection
  readonly #gather: () => Promise<Gathered>
  /** Its own connection, since it carries lines of megabytes that must not delay look-ups. */
  readonly #ofUploads: OwnConnection
  readonly #uploads: SharedUploads

  constructor(address: PostgresAddress, gather: () => Promise<Gathered>) {
    this.#connection = new OwnConnection({ address, statementMs })
    this.#gather = gather
    this.#ofUploads = new OwnConnection({ address, statementMs })
    this.#uploads = new SharedUploads(this.#ofUploads)
  }

  async answer(asked: ObjectsAsked): Promise<unknown> {
    switch (asked.act) {
      case 'find':
        if (asked.settled) await this.#gatherAll()
        return await this.#find(asked.names)
      case 'reasoning':
        if (asked.settled) await this.#gatherAll()
        return await this.#reasoning(asked.names)
      case 'places':
        // Until it is back, a list lacks what an absent node created just before.
        await this.#gather()
        return await this.#places(asked)
      case 'input':
        return await this.#input(asked)
      case 'work':
        if (asked.settled) await this.#gather()
        return await this.#connection.use((client) => readHeldWork(client, asked))
      case 'part':
        return await this.#uploads.answer(asked.part)
    }
  }

  /** For operators, who see what there is even if a node does not answer. */
  async list({ projects, environmentIds, providerId, type, id, limit }: ObjectFilter): Promise<StoredObject[]> {
    const values = [
      projects === undefined ? null : [...projects, ''],
      environmentIds ?? null,
      ...[providerId ?? null, type ?? null, id ?? null, limit],
    ]
    await this.#gather().catch(() => {})
    const rows = await this.#rows<ObjectRow>(
      `select ${columns} from spgw.objects where ($1::text[] is null or project_id = any ($1))
       and ($2::text[] is null or environment_id = any ($2)) and ($3::text is null or provider_id = $3)
       and ($4::text is null or type = $4) and ($5::text is null or id = $5) order by created_at desc limit $6`,
      values,
    )
    return rows.map(toStoredObject)
  }

  /** The changes after that key (`objectHistoryStart` at first), for a node that continues alone; null: no more. */
  async readBehind(from: string): Promise<SharedPage | null> {
    const [table, ...key] = JSON.parse(from) as string[]
    if (table === 'counted') return await this.#connection.use((client) => readCountedBehind(client, key))
    if (table !== 'objects') return await this.#readReasoningBehind(key)
    const rows = await this.#rows<ObjectRow & { input_json: string | null }>(
      `select ${columns} from spgw.objects where (type, id, provider_id, credential_id) > ($1, $2, $3, $4)
       order by type, id, provider_id, credential_id limit ${rowsAtOnce}`,
      key,
    )
    const last = rows.at(-1)
    if (last === undefined) return await this.#readReasoningBehind([''])
    const changes = rows.map(({ input_json, ...row }): SharedChange => {
      return { kind: 'made', object: toStoredObject(row), input: input_json === null ? null : JSON.parse(input_json) }
    })
    return { changes, last: JSON.stringify(['objects', last.type, last.id, last.provider_id, last.credential_id]) }
  }

  async close(): Promise<void> {
    await Promise.all([this.#connection.close(), this.#ofUploads.close()])
  }

  async #gatherAll(): Promise<void> {
    const { absent } = await this.#gather()
    if (absent.length > 0)
      throw new Error(`${absent.join(', ')} is not heard of, and may have made it (gone for good: spgw cluster remove)`)
  }

  async #find(names: string): Promise<StoredObject[]> {
    const rows = await this.#rows<ObjectRow>(
      `select ${columns.map((name) => `o.${name}`)} from jsonb_each($1::jsonb) t (type, ids)
       cross join jsonb_array_elements_text(t.ids) i (id) join spgw.objects o on o.type = t.type and o.id = i.id`,
      [names],
    )
    return rows.map(toStoredObject)
  }

  async #reasoning(names: readonly string[]): Promise<Record<string, string>> {
    const rows = await this.#rows<{ name: string; sealed: string }>(
      'select name, sealed from spgw.reasoning where name = any ($1)',
      [names],
    )
    return Object.fromEntries(rows.map(({ name, sealed }) => [name, sealed]))
  }

  async #places({ projectId, environmentId, type }: Extract<ObjectsAsked, { act: 'places' }>): Promise<CountedPlace[]> {
    const rows = await this.#rows<{ provider_id: string; credential_id: string; count: string }>(
      `select provider_id, credential_id, count(*) from spgw.objects
       where project_id = $1 and environment_id = $2 and type = $3 group by 1, 2 order by 1, 2`,
      [projectId, environmentId, type],
    )
    return rows.map(({ provider_id, credential_id, count }) => {
      return { providerId: provider_id, credentialId: credential_id || null, count: Number(count) }
    })
  }

  async #input({ fileId, providerId, credentialId }: Extract<ObjectsAsked, { act: 'input' }>) {
    const [row] = await this.#rows<{ key_id: string | null; input_json: string | null }>(
      `select key_id, input_json from spgw.objects
       where type in ('file', 'eval') and id = $1 and provider_id = $2 and credential_id = $3`,
      [fileId, providerId, credentialId ?? ''],
    )
    const text = row?.input_json ?? null
    return { input: text === null ? null : JSON.parse(text), adopted: row !== undefined && row.key_id === null }
  }

  async #readReasoningBehind(key: readonly string[]): Promise<SharedPage | null> {
    const rows = await this.#rows<{ name: string; expires_at: string; sealed: string }>(
      `select name, expires_at, sealed from spgw.reasoning where name > $1 order by name limit ${rowsAtOnce}`,
      [...key],
    )
    const last = rows.at(-1)
    if (last === undefined) return await this.#connection.use((client) => readCountedBehind(client, ['', '', '']))
    const changes = rows.map(({ name, expires_at, sealed }): SharedChange => {
      return { kind: 'reasoning', name, expiresAt: Number(expires_at), sealed }
    })
    return { changes, last: JSON.stringify(['reasoning', last.name]) }
  }

  async #rows<Row extends pg.QueryResultRow>(text: string, values: unknown[]): Promise<Row[]> {
    return (await this.#connection.use((client) => client.query<Row>(text, values))).rows
  }
}
