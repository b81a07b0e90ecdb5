import type { Tables } from '../api.ts'
import type { Database, PasskeyRow } from '../schema.ts'
import { readJson, writeJson } from '../sqlite/json-column.ts'
import type { Passkey } from './operator-tables.ts'

export function passkeysTable(db: Database): Tables['passkeys'] {
  return {
    async list(operatorId) {
      const query = db.selectFrom('passkeys').selectAll().where('operator_id', '=', operatorId)
      return (await query.orderBy('created_at').orderBy('id').execute()).map(toPasskey)
    },
    async findByCredential(credentialId) {
      const query = db.selectFrom('passkeys').selectAll().where('credential_id', '=', credentialId)
      const row = await query.executeTakeFirst()
      return row === undefined ? null : toPasskey(row)
    },
    async insert(passkey) {
      await db.insertInto('passkeys').values(toRow(passkey)).execute()
    },
    async noteUse(id, counter, time) {
      await db.updateTable('passkeys').set({ counter, last_used_at: time }).where('id', '=', id).execute()
    },
    async remove(id, operatorId) {
      const query = db.deleteFrom('passkeys').where('id', '=', id).where('operator_id', '=', operatorId)
      return (await query.executeTakeFirst()).numDeletedRows > 0n
    },
  }
}

function toRow(passkey: Passkey): PasskeyRow {
  return {
    id: passkey.id,
    operator_id: passkey.operatorId,
    credential_id: passkey.credentialId,
    public_key: passkey.publicKey,
    counter: passkey.counter,
    transports_json: writeJson(passkey.transports),
    name: passkey.name,
    created_at: passkey.createdAt,
    last_used_at: passkey.lastUsedAt,
  }
}

function toPasskey(row: PasskeyRow): Passkey {
  return {
    id: row.id,
    operatorId: row.operator_id,
    credentialId: row.credential_id,
    publicKey: row.public_key,
    counter: row.counter,
    transports: readJson(row.transports_json),
    name: row.name,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
  }
}
