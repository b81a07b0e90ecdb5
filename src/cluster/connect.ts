import pg from 'pg'
import { explainLoss } from './explain-loss.ts'
import type { PostgresAddress } from './protocol.ts'

/** PostgreSQL was not reached, or was lost on the way: what was asked may have happened or not. */
export class PostgresAway extends Error {
  override readonly name = 'PostgresAway'
}

/** Nothing was lost: what was found there does not allow what was asked. */
export class PostgresRefusal extends Error {
  override readonly name = 'PostgresRefusal'
  /** What to do. */
  readonly hint: string

  constructor(message: string, hint: string) {
    super(message)
    this.hint = hint
  }
}

const connectMs = 3000
const lockMs = 2000

/**
 * A new connection. `statementMs`: longer no statement may take, and a network that swallows everything is noticed by then.
 * `onLost` is told why the connection is over, perhaps several times.
 */
export async function openClient(
  address: PostgresAddress,
  statementMs: number,
  onLost: (error: unknown) => void,
): Promise<pg.Client> {
  const { host, port, user, password, database, authority, plain } = address
  // Its certificate is held against `host`, also where that is an address.
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

/** Whatever PostgreSQL itself says has a code of five; that it goes down, or takes no more clients, is a loss like any other. */
export function isLoss(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return !(error instanceof PostgresRefusal)
  return /^(08|57P|53[23])/.test(error.code ?? '')
}

/**
 * It takes no changes (a standby, a setting, a full disk), does not let this user in or lets it do too little, has not the
 * tables, or is damaged: whatever is asked, and however often.
 */
export function isUnusable(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(25|28|3D|3F|42|53|58|XX)/.test(error.code ?? '')
}

export function describeLoss(error: unknown, address: PostgresAddress): string {
  // It has been explained where it was lost.
  if (error instanceof PostgresAway) return error.message
  return explainLoss(error, { ...address, setting: 'postgres' })
}
