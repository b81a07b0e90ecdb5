import type { Database, Statement } from 'better-sqlite3'
import type { ObjectsEntry } from '../core/journal-format.ts'
import type { CountedPlace, ObjectName, ObjectScope, ObjectType, StoredObject } from '../core/stored-object.ts'
import { toStoredObject } from './object-rows.ts'
import type { ObjectRow } from './schema.ts'

type Values = (string | null)[]

/** What ingestion and look-ups run on the index of objects, prepared once. */
export class ObjectStatements {
  readonly #add: Statement<Values>
  readonly #forget: Statement<Values>
  readonly #find: Statement<Values, ObjectRow>
  readonly #places: Statement<Values, { provider_id: string; credential_id: string; count: number }>

  constructor(sqlite: Database) {
    // The first owner stays: an answer that names somebody's object makes it nobody else's. Which batch wrote it may be
    // learnt later.
    this.#add = sqlite.prepare(
      `insert into objects (type, id, provider_id, credential_id, project_id, environment_id, key_id, request_id, created_at, batch_id)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (type, id, provider_id, credential_id) do update
       set batch_id = excluded.batch_id where objects.batch_id is null and excluded.batch_id is not null
       and objects.project_id = excluded.project_id and objects.environment_id = excluded.environment_id`,
    )
    this.#forget = sqlite.prepare(
      `delete from objects where type = ? and id = ? and provider_id = ? and credential_id = ?
       and project_id = ? and environment_id = ?`,
    )
    this.#find = sqlite.prepare('select * from objects where type = ? and id = ?')
    this.#places = sqlite.prepare(
      `select provider_id, credential_id, count(*) as count from objects
       where project_id = ? and environment_id = ? and type = ? group by provider_id, credential_id
       order by provider_id, credential_id`,
    )
  }

  store({ owner, made, forgotten, requestId, time }: ObjectsEntry): void {
    const { providerId, projectId, environmentId, keyId } = owner
    const credentialId = owner.credentialId ?? ''
    const scope = [projectId, environmentId, keyId]
    for (const { type, id, batchId } of made)
      this.#add.run(type, id, providerId, credentialId, ...scope, requestId, time, batchId ?? null)
    for (const { type, id } of forgotten) this.#forget.run(type, id, providerId, credentialId, projectId, environmentId)
  }

  find(names: readonly ObjectName[]): StoredObject[] {
    return names.flatMap(({ type, id }) => this.#find.all(type, id).map(toStoredObject))
  }

  places({ projectId, environmentId }: ObjectScope, type: ObjectType): CountedPlace[] {
    return this.#places
      .all(projectId, environmentId, type)
      .map((row) => ({ providerId: row.provider_id, credentialId: row.credential_id || null, count: row.count }))
  }
}
