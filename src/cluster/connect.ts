import pg from 'pg'
import { explainLoss } from './explain-loss.ts'
import type { PostgresAddress } from './protocol.ts'

/** PostgreSQL could not be reached, or the connection was lost: the question may or may not have taken effect. */
export class PostgresAway extends Error {
  override readonly name = 'PostgresAway'
}

/** PostgreSQL was reached, and what it contains does not allow the question. */
export class PostgresRefusal extends Error {
  override readonly name = 'PostgresRefusal'
  /** What to do about it. */
  readonly hint: string

  constructor(message: string, hint: string) {
    super(message)
    this.hint = hint
  }
}

const connectMs = 3000
const lockMs = 2000

/**
 * Opens a connection. `statementMs`: the longest statement, and the time after which a silent network is noticed. `onLost` gets the reason
 * when the connection ends, possibly several times.
 */
export async function openClient(
  address: PostgresAddress,
  statementMs: number,
  onLost: (error: unknown) => void,
): Promise<pg.Client> {
  const { host, port, user, password, database, authority, plain } = address
  // The certificate is verified against `host`, even if that is an address.
  const ssl = plain ? false : { host, rejectUnauthorized: true, ...(authority === null ? {} : { ca: authority }) }
  const client = new pg.Client({
    ...{ host, port, user, database, ssl, password: password ?? '' },
    application_name: 'spgw',
    connectionTimeoutMillis: connectMs,
    query_timeout: statementMs,
    statement_timeout: statementMs,
    lock_timeout: lockMs,
    keepAlive: true,
  })
  client.on('error', onLost)
  client.on('end', () => onLost(new Error('PostgreSQL closed the connection')))
  await client.connect()
  return client
}

/** PostgreSQL's own errors have codes of five characters. A shutdown, or too many clients, counts as a lost connection. */
export function isLoss(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return !(error instanceof PostgresRefusal)
  return /^(08|57P|53[23])/.test(error.code ?? '')
}

/**
 * PostgreSQL does not serve this node at all: it is read-only (a standby, a setting, a full disk), denies the user a right, lacks the
 * tables, or is damaged.
 */
export function isUnusable(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(25|28|3D|3F|42|53|58|XX)/.test(error.code ?? '')
}

export function describeLoss(error: unknown, address: PostgresAddress): string {
  // Explained already where it was lost.
  if (error instanceof PostgresAway) return error.message
  return explainLoss(error, { ...address, setting: 'postgres' })
}
