import type { ShownState } from '../../core/provider-state.ts'
import type { ProviderState } from '../api.ts'
import type { Database } from '../schema.ts'
import { readJson } from '../sqlite/json-column.ts'
import type { Readiness } from './snapshot.ts'

const keptMs = 30 * 24 * 3_600_000
/** Per provider, so that one that fails and recovers all day long does not fill the database. */
const keptStates = 1000

/**
 * Notes a provider's state if it is a new one. Call it before the provider's row is changed, and write what it returns:
 * a state that is found again keeps the time when it was first found.
 */
export async function noteState(db: Database, providerId: string, found: Readiness): Promise<Readiness> {
  const row = await db.selectFrom('providers').select('readiness_json').where('id', '=', providerId).executeTakeFirst()
  const before = row === undefined ? null : readJson<Readiness>(row.readiness_json)
  if (before === null) return found
  const { state, reason, since } = found
  const isSame = before.state === state
  if (!isSame || before.reason !== reason)
    await addState(db, providerId, { time: since ?? new Date().toISOString(), state, reason })
  return isSame ? { ...found, since: before.since ?? since } : found
}

/**
 * Notes the state that live calls and checks together give, if it differs from the last one. A recovering provider
 * counts as failing until it is ready: else the state would change with every trial request. Returns since when the
 * state holds; null: no such provider.
 */
export async function noteShownState(db: Database, providerId: string, shown: ShownState): Promise<string | null> {
  const row = await db.selectFrom('providers').select('id').where('id', '=', providerId).executeTakeFirst()
  const last = await db
    .selectFrom('provider_states')
    .select(['time', 'state'])
    .where('provider_id', '=', providerId)
    .orderBy('time', 'desc')
    .limit(1)
    .executeTakeFirst()
  const state = shown.state === 'recovering' ? 'failing' : shown.state
  if (row === undefined) return null
  if (last?.state === state) return await beganAt(db, providerId, state)
  const now = new Date().toISOString()
  const { reason, since } = shown
  // Never earlier than the state before it, whatever the calls say.
  const time = since === null || since <= (last?.time ?? '') ? now : since
  await addState(db, providerId, { time, state, reason })
  return time
}

/** The state that holds may have been noted several times, each with another reason. */
async function beganAt(db: Database, providerId: string, state: string): Promise<string | null> {
  const rows = db.selectFrom('provider_states').where('provider_id', '=', providerId)
  const other = rows.where('state', '<>', state).select(({ fn }) => fn.max('time').as('time'))
  const { time = '' } = (await other.executeTakeFirst()) ?? {}
  const first = rows.where('time', '>', time ?? '').select(({ fn }) => fn.min('time').as('time'))
  return (await first.executeTakeFirst())?.time ?? null
}

/** The first of all. */
export async function noteFirstState(
  db: Database,
  providerId: string,
  { state, reason, since }: Readiness,
  createdAt: string,
): Promise<void> {
  await addState(db, providerId, { time: since ?? createdAt, state, reason })
}

/** Oldest first. */
export async function listStates(db: Database, providerId: string, since: string): Promise<ProviderState[]> {
  const rows = await db
    .selectFrom('provider_states')
    .select(['time', 'state', 'reason'])
    .where('provider_id', '=', providerId)
    .where('time', '>=', since)
    .orderBy('time')
    .execute()
  return rows.map(({ time, state, reason }) => ({ time, state: state as ProviderState['state'], reason }))
}

async function addState(db: Database, providerId: string, { time, state, reason }: ProviderState): Promise<void> {
  await db
    .insertInto('provider_states')
    .values({ provider_id: providerId, time, state, reason })
    .onConflict((conflict) => conflict.columns(['provider_id', 'time']).doUpdateSet({ state, reason }))
    .execute()
  const end = new Date(Date.now() - keptMs).toISOString()
  // The one that still holds stays, however old it is.
  const old = db.deleteFrom('provider_states').where('provider_id', '=', providerId).where('time', '<', end)
  await old.where('time', '<', time).execute()
  const most: { time: string } | undefined = await db
    .selectFrom('provider_states')
    .select('time')
    .where('provider_id', '=', providerId)
    .orderBy('time', 'desc')
    .offset(keptStates)
    .limit(1)
    .executeTakeFirst()
  if (most === undefined) return
  await db.deleteFrom('provider_states').where('provider_id', '=', providerId).where('time', '<=', most.time).execute()
}
