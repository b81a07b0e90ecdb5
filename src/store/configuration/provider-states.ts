import type { ProviderState } from '../api.ts'
import type { Database } from '../schema.ts'
import { readJson } from '../sqlite/json-column.ts'
import type { Readiness } from './snapshot.ts'

const keptMs = 30 * 24 * 3_600_000

/** Notes what was found of a provider where it is something new. To be called before the provider's row is changed. */
export async function noteState(db: Database, providerId: string, { state, reason, since }: Readiness): Promise<void> {
  const row = await db.selectFrom('providers').select('readiness_json').where('id', '=', providerId).executeTakeFirst()
  const before = row === undefined ? null : readJson<Readiness>(row.readiness_json)
  if (before === null || (before.state === state && before.reason === reason)) return
  await addState(db, providerId, { time: since ?? new Date().toISOString(), state, reason })
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
}
