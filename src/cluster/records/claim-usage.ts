import type pg from 'pg'
import type { BatchHeldEntry } from '../../core/journal-format.ts'
import type { HeldBatch } from '../../store/ingest/batch-hold-statements.ts'
import type { SharedChange, SharedCount, SharedHold, SharedPage } from '../../store/replica/shared-change.ts'
import {
  type ClaimAnswer,
  type CountedHold,
  type CountedUsage,
  type MakerAmounts,
  placeOf,
  type UsageClaim,
  type WorkRow,
} from '../../store/replica/usage-claim.ts'
import { channel } from '../schema/configuration.ts'
import type { Self } from '../self.ts'

/** The notification to other nodes. */
export const countedWord = 'counted'
/** Rows in one SQLite transaction. */
const rowsAtOnce = 500

interface AnswerRow {
  number: string
  mine: boolean | null
  counted: boolean
  elsewhere: boolean
  amounts: MakerAmounts | null
}

const asked = `unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
  as a(number, id, provider_id, credential_id, type, maker)`

/**
 * Decides for each work which node counts its usage: the first that asks, also if it asks again. If that node was removed before it had
 * counted, the next one does. Sorted by name, so that two nodes do not deadlock.
 */
export async function claimUsage(
  client: pg.Client,
  { member, incarnation }: Self,
  claims: readonly UsageClaim[],
): Promise<ClaimAnswer[]> {
  const values = [
    claims.map(({ number }) => number),
    ...placesOf(claims),
    claims.map(({ type }) => type),
    claims.map(({ maker }) => maker),
  ]
  await client.query(
    `insert into spgw.counted as c (id, provider_id, credential_id, type, member, holder)
     select a.id, a.provider_id, a.credential_id, a.type, $7, m.id from ${asked}
     left join spgw.held h on h.id = a.id and h.provider_id = a.provider_id and h.credential_id = a.credential_id
     left join spgw.members m on m.id = h.member
     where (a.maker is null or exists (select from spgw.records r where r.id = a.maker))
       and exists (select from spgw.members where id = $7 and incarnation = $8)
     order by a.id, a.provider_id, a.credential_id
     on conflict (id, provider_id, credential_id) do update set member = excluded.member, holder = excluded.holder
     where c.usage is null and not exists (select from spgw.members where id = c.member)`,
    [...values, member, incarnation],
  )
  const { rows } = await client.query<AnswerRow>(
    `select a.number, c.member = $7 as mine, c.usage is not null as counted,
       coalesce(c.holder <> $7, false) as elsewhere,
       (select jsonb_build_object('input', r.input, 'output', r.output, 'cache_read', r.cache_read,
         'cache_write', r.cache_write, 'reasoning', r.reasoning, 'usd', r.usd)
        from spgw.records r where r.id = a.maker) as amounts
     from ${asked} left join spgw.counted c
       on c.id = a.id and c.provider_id = a.provider_id and c.credential_id = a.credential_id`,
    [...values, member],
  )
  return rows.map(toAnswer)
}

function toAnswer({ number, mine, counted, elsewhere, amounts }: AnswerRow): ClaimAnswer {
  const answered = { number: Number(number) }
  if (mine === true) return { ...answered, kind: 'mine', heldElsewhere: elsewhere, maker: amounts }
  if (mine === null) return { ...answered, kind: 'unmade' }
  return { ...answered, kind: counted ? 'counted' : 'taken' }
}

/** Of works for which a node holds budget, those that were counted, and their cost if that node has to book it. */
export async function readCounted(
  client: pg.Client,
  { member }: Self,
  holds: readonly HeldBatch[],
): Promise<CountedHold[]> {
  const { rows } = await client.query<WorkRow & { usage: CountedUsage | null }>(
    `select c.id, c.provider_id, c.credential_id, case when c.holder = $4 then c.usage end as usage
     from unnest($1::text[], $2::text[], $3::text[]) as a(id, provider_id, credential_id)
     join spgw.counted c on c.id = a.id and c.provider_id = a.provider_id and c.credential_id = a.credential_id
     where c.usage is not null`,
    [...placesOf(holds), member],
  )
  return rows.map((row) => ({ ...placeOf(row), usage: row.usage }))
}

/** This node holds budget for the work until it is counted. The entry describes the work after its last step, whichever node ran that. */
export async function addHeld(client: pg.Client, member: string, holds: readonly SharedHold[]): Promise<void> {
  // Two steps within one round become one row.
  const last = [...new Map(holds.map((hold) => [JSON.stringify(placesOf([hold])), hold])).values()]
  await client.query(
    `insert into spgw.held as h (id, provider_id, credential_id, work, member)
     select a.id, a.provider_id, a.credential_id, a.work, $5
     from unnest($1::text[], $2::text[], $3::text[], $4::jsonb[]) as a(id, provider_id, credential_id, work)
     where not exists (select from spgw.counted c where c.id = a.id and c.provider_id = a.provider_id
       and c.credential_id = a.credential_id and c.usage is not null)
     order by 1, 2, 3 on conflict (id, provider_id, credential_id) do update
     set work = excluded.work where excluded.work is not null`,
    [...placesOf(last), last.map(({ work }) => (work === undefined ? null : JSON.stringify(work))), member],
  )
}

/** Earlier work that a call continues; null: no node has reported it. */
export async function readHeldWork(client: pg.Client, place: HeldBatch): Promise<BatchHeldEntry | null> {
  const { rows } = await client.query<{ work: BatchHeldEntry | null }>(
    `select h.work from unnest($1::text[], $2::text[], $3::text[]) as a(id, provider_id, credential_id)
     join spgw.held h on h.id = a.id and h.provider_id = a.provider_id and h.credential_id = a.credential_id`,
    placesOf([place]),
  )
  return rows[0]?.work ?? null
}

/** Runs in the transaction that ships the records: nodes that hold budget for the work learn that it was counted. */
export async function addCounted(client: pg.Client, member: string, counts: readonly SharedCount[]): Promise<void> {
  await client.query(
    `insert into spgw.counted as c (id, provider_id, credential_id, type, usage, member)
     select distinct on (1, 2, 3) a.id, a.provider_id, a.credential_id, a.type, a.usage, $6
     from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::jsonb[])
       as a(id, provider_id, credential_id, type, usage)
     order by 1, 2, 3 on conflict (id, provider_id, credential_id) do update
     set usage = excluded.usage where c.usage is null`,
    [...placesOf(counts), counts.map(({ type }) => type), counts.map(({ usage }) => JSON.stringify(usage)), member],
  )
  await client.query(
    `delete from spgw.held where (id, provider_id, credential_id) in (
       select * from unnest($1::text[], $2::text[], $3::text[]))`,
    placesOf(counts),
  )
  await client.query('select pg_notify($1, $2)', [channel, countedWord])
}

/** For a node that continues alone, so that it does not count other nodes' work again. Null: no more. */
export async function readCountedBehind(client: pg.Client, key: readonly string[]): Promise<SharedPage | null> {
  const { rows } = await client.query<WorkRow & Pick<SharedCount, 'type' | 'usage'>>(
    `select id, provider_id, credential_id, type, usage from spgw.counted
     where (id, provider_id, credential_id) > ($1, $2, $3) and usage is not null
     order by id, provider_id, credential_id limit ${rowsAtOnce}`,
    [...key],
  )
  const last = rows.at(-1)
  if (last === undefined) return null
  const changes = rows.map(
    (row): SharedChange => ({ kind: 'counted', ...placeOf(row), type: row.type, usage: row.usage }),
  )
  return { changes, last: JSON.stringify(['counted', last.id, last.provider_id, last.credential_id]) }
}

function placesOf(works: readonly HeldBatch[]): string[][] {
  return [
    works.map(({ batchId }) => batchId),
    works.map(({ providerId }) => providerId),
    works.map(({ credentialId }) => credentialId ?? ''),
  ]
}
