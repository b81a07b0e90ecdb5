import { createHash } from 'node:crypto'
import { mintGatewayKey } from '../../../core/secrets/gateway-key.ts'
import type { Key } from '../../../store/api.ts'

/** The secret leaves only as the answer of the operation that made it. */
export function mintSecret(): { key: string; secret: Key['secrets'][number] } {
  const key = mintGatewayKey()
  const hash = createHash('sha256').update(key).digest('base64')
  return { key, secret: { hash, lastFour: key.slice(-4), expiresAt: null } }
}
