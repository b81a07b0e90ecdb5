import { bodyKeyIdentity } from '../../sealing/body-seal.ts'
import type { Tables } from '../api.ts'
import { readNamed, refuseStaleSeal, writeNamed } from '../configuration/seal.ts'
import type { BodyRow, Database } from '../schema.ts'
import type { StoredBody } from './body-tables.ts'

export function bodiesTable(db: Database): Tables['bodies'] {
  return {
    async find(id) {
      const rows = await db.selectFrom('bodies').selectAll().where('id', '=', id).orderBy('part', 'desc').execute()
      // What is over is removed a moment later, and read no more.
      return { bodies: rows.filter(({ until }) => (until ?? Infinity) > Date.now()).map(toBody), missing: null }
    },
    key: (id) => readNamed(db, bodyKeyIdentity(id)),
    async setKey(id, sealed, replaced) {
      const standing = await readNamed(db, bodyKeyIdentity(id))
      if (standing !== null && standing !== replaced) return standing
      await refuseStaleSeal(db, [sealed], [])
      await writeNamed(db, bodyKeyIdentity(id), sealed)
      return sealed
    },
  }
}

/** The gateway's own entries are the only source of the two words. */
export function toBody({ part, mode, type, bytes, truncated, masked, key_id, sealed }: BodyRow): StoredBody {
  return {
    part: part === 'request' ? 'request' : 'answer',
    mode: mode === 'full' ? 'full' : 'redacted',
    type,
    bytes,
    truncated: truncated === 1,
    masked: masked === 1,
    keyId: key_id,
    sealed,
  }
}
