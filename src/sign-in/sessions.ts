import { newId } from '../core/ids.ts'
import type { StoreClient } from '../store/api.ts'
import type { Operator, Session, SessionOfOperator, SignInMethod } from '../store/operators/operator-tables.ts'
import { operatorLine } from './audit-line.ts'
import type { RequestOrigin } from './place.ts'
import { SignInRefused } from './refusal.ts'
import { hashToken, isSame, isToken, mintToken } from './token.ts'

export type { Operator, SessionOfOperator } from '../store/operators/operator-tables.ts'

const idleMs = 12 * 3_600_000
export const absoluteMs = 30 * 86_400_000
/** A session's last use is written down no more often than this. */
const touchEveryMs = 60_000

export interface BegunSession {
  /** For the cookie, and for nobody else. */
  token: string
  operator: Operator
}

/** A new token each time: one that somebody planted in the browser before is worth nothing after. */
export async function beginSession(
  store: StoreClient,
  operator: Operator,
  method: SignInMethod,
  { address, userAgent }: RequestOrigin,
  now = Date.now(),
): Promise<BegunSession> {
  if (operator.state !== 'active')
    throw new SignInRefused('refused', 'This operator is disabled.', 'An owner can enable it again.')
  const token = mintToken()
  const session: Session = {
    tokenSha256: hashToken(token),
    id: newId('ses'),
    operatorId: operator.id,
    method,
    createdAt: timeOf(now),
    lastSeenAt: timeOf(now),
    expiresAt: timeOf(now + idleMs),
    address,
    userAgent,
    revokedAt: null,
  }
  const line = operatorLine(operator, 'console.sign-in', { method, session: session.id, address })
  await store.audited(line).sessions.insert(session)
  return { token, operator }
}

/** null: there is no such session, it is over or revoked, or its operator is disabled. */
export async function findSession(
  store: StoreClient,
  token: string,
  now = Date.now(),
): Promise<SessionOfOperator | null> {
  if (!isToken(token)) return null
  const hash = hashToken(token)
  const found = await store.sessions.find(hash)
  if (found === null || !isSame(found.session.tokenSha256, hash) || !isAlive(found, now)) return null
  if (now - Date.parse(found.session.lastSeenAt) >= touchEveryMs) await touch(store, found.session, now)
  return found
}

export function isAlive({ session, operator }: SessionOfOperator, now = Date.now()): boolean {
  return session.revokedAt === null && Date.parse(session.expiresAt) > now && operator.state === 'active'
}

/** Each use puts the end off, up to the day when it ends in any case. A store that is unhealthy signs nobody out. */
async function touch(store: StoreClient, session: Session, now: number): Promise<void> {
  const end = Math.min(now + idleMs, Date.parse(session.createdAt) + absoluteMs)
  await store.sessions.touch(session.tokenSha256, timeOf(now), timeOf(end)).catch(() => {})
}

export async function endSession(store: StoreClient, { session, operator }: SessionOfOperator): Promise<void> {
  const line = operatorLine(operator, 'console.sign-out', { session: session.id })
  await store.audited(line).sessions.revoke([session.id], timeOf(Date.now()))
}

function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}
