import type { Database, Statement } from 'better-sqlite3'
import type { ObjectsEntry } from '../../core/journal-format.ts'
import type { BatchInput } from '../../core/objects/batch-input.ts'
import type { CountedPlace } from '../../core/objects/object-question.ts'
import type { ObjectPlace, ObjectScope, ObjectType, StoredObject } from '../../core/objects/stored-object.ts'
import type { ForgottenObject, SharedChange } from '../replica/shared-change.ts'
import type { ObjectRow } from '../schema.ts'
import { forgottenUntil, toStoredObject } from './object-rows.ts'

type ObjectValues = (string | null)[]

/** What ingestion and look-ups run on the index of objects, prepared once. */
export class ObjectStatements {
  readonly #add: Statement<ObjectValues>
  readonly #forget: Statement<ObjectValues>
  readonly #forgetOlder: Statement<ObjectValues>
  readonly #find: Statement<ObjectValues, ObjectRow>
  readonly #addInput: Statement<ObjectValues>
  readonly #input: Statement<ObjectValues, { key_id: string | null; input_json: string | null }>
  readonly #places: Statement<ObjectValues, { provider_id: string; credential_id: string; count: number }>

  constructor(sqlite: Database) {
    // The first owner stays: an answer that names somebody's object does not change its owner. Which batch wrote it may
    // become known later.
    this.#add = sqlite.prepare(
      `insert into objects (type, id, provider_id, credential_id, project_id, environment_id, key_id, request_id, created_at, batch_id)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (type, id, provider_id, credential_id) do update
       set batch_id = excluded.batch_id where objects.batch_id is null and excluded.batch_id is not null
       and objects.project_id = excluded.project_id and objects.environment_id = excluded.environment_id`,
    )
    const forget = `delete from objects where type = ? and id = ? and provider_id = ? and credential_id = ?
       and project_id = ? and environment_id = ?`
    this.#forget = sqlite.prepare(forget)
    this.#forgetOlder = sqlite.prepare(`${forget} and created_at <= ?`)
    // Forces the look-up by name, whatever the planner prefers.
    this.#find = sqlite.prepare(
      `select o.* from json_each(?) types cross join json_each(types.value) ids cross join objects o
       where o.type = types.key and o.id = ids.value`,
    )
    // Only for the call that created the file or the eval, not for others that mention it.
    this.#addInput = sqlite.prepare(
      `insert into batch_inputs select id, provider_id, credential_id, ? from objects
       where type in ('file', 'eval') and id = ? and provider_id = ? and credential_id = ? and request_id = ?
       on conflict do nothing`,
    )
    this.#input = sqlite.prepare(
      `select o.key_id, b.input_json from objects o left join batch_inputs b on b.file_id = o.id
       and b.provider_id = o.provider_id and b.credential_id = o.credential_id
       where o.type in ('file', 'eval') and o.id = ? and o.provider_id = ? and o.credential_id = ?`,
    )
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
    for (const { type, id, batchId, input } of made) {
      this.#add.run(type, id, providerId, credentialId, ...scope, requestId, time, batchId ?? null)
      if (input !== undefined) this.#addInput.run(JSON.stringify(input), id, providerId, credentialId, requestId)
    }
    for (const { type, id } of forgotten) this.#forget.run(type, id, providerId, credentialId, projectId, environmentId)
  }

  /** Deleted by somebody who may. An object created later under the same name stays. */
  forget({ type, id, providerId, credentialId, projectId, environmentId, until }: ForgottenObject): void {
    this.#forgetOlder.run(type, id, providerId, credentialId ?? '', projectId, environmentId, until)
  }

  /** `names`: as in a `FindQuestion`. */
  find(names: string): StoredObject[] {
    return this.#find.all(names).map(toStoredObject)
  }

  /** What the lines of a file name, where that is known. */
  input(fileId: string, { providerId, credentialId }: ObjectPlace): { input: BatchInput | null; adopted: boolean } {
    const row = this.#input.get(fileId, providerId, credentialId ?? '')
    const text = row?.input_json ?? null
    return { input: text === null ? null : (JSON.parse(text) as BatchInput), adopted: row?.key_id === null }
  }

  places({ projectId, environmentId }: ObjectScope, type: ObjectType): CountedPlace[] {
    return this.#places
      .all(projectId, environmentId, type)
      .map((row) => ({ providerId: row.provider_id, credentialId: row.credential_id || null, count: row.count }))
  }
}

/** What an entry of the journal says, as other nodes get to know it. */
export function sharedChanges({ owner, made, forgotten, requestId, time }: ObjectsEntry): SharedChange[] {
  return [
    ...made.map(({ type, id, batchId = null, input = null }): SharedChange => {
      return { kind: 'made', object: { ...owner, type, id, requestId, createdAt: time, batchId }, input }
    }),
    ...forgotten.map(({ type, id, createdAt }): SharedChange => {
      const { providerId, credentialId, projectId, environmentId } = owner
      const until = forgottenUntil(createdAt)
      return { kind: 'forgotten', type, id, providerId, credentialId, projectId, environmentId, until }
    }),
  ]
}
