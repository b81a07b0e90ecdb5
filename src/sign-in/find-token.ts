import { isApiToken } from '../core/secrets/api-token.ts'
import type { StoreClient } from '../store/api.ts'
import type { ApiToken } from '../store/operators/token-tables.ts'
import { hashToken, isSame } from './token.ts'

export type { ApiToken }

/** Its last use is written down no more often than this. */
const touchEveryMs = 60_000

/** null: there is no such API token, it has expired, or it was revoked. */
export async function findToken(store: StoreClient, text: string, now = Date.now()): Promise<ApiToken | null> {
  if (!isApiToken(text)) return null
  const hash = hashToken(text)
  const found = await store.tokens.findByHash(hash)
  if (found === null || !isSame(found.tokenSha256, hash) || !isGoodToken(found, now)) return null
  if (found.lastUsedAt === null || now - Date.parse(found.lastUsedAt) >= touchEveryMs)
    // A store that cannot be written refuses nobody.
    await store.tokens.touch(found.id, new Date(now).toISOString()).catch(() => {})
  return found
}

export function isGoodToken({ expiresAt, revokedAt }: ApiToken, now = Date.now()): boolean {
  return revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > now)
}
