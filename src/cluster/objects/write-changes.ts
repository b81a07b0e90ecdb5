import type pg from 'pg'
import { toObjectRow } from '../../store/objects/object-rows.ts'
import { forgottenReasoning } from '../../store/reasoning/reasoning-statements.ts'
import {
  type ForgottenObject,
  reasoningType,
  type SharedChange,
  type SharedCount,
  type SharedHold,
  type SharedReasoning,
} from '../../store/replica/shared-change.ts'
import { addCounted, addHeld } from '../records/claim-usage.ts'
import type { Self } from '../self.ts'

type MadeObject = Extract<SharedChange, { kind: 'made' }>
type BodiesFrom = Extract<SharedChange, { kind: 'bodies-from' }>

/** Writes what a node has stored, in its order, in the open transaction. Existing rows do not change. */
export async function writeChanges(
  client: pg.Client,
  { member }: Self,
  changes: readonly SharedChange[],
): Promise<void> {
  for (const run of runsOf(changes)) {
    // Each run consists of changes of the kind of its first.
    if (run[0]?.kind === 'made') await addObjects(client, run as MadeObject[])
    else if (run[0]?.kind === 'forgotten') await forgetObjects(client, run as ForgottenObject[])
    else if (run[0]?.kind === 'held') await addHeld(client, member, run as SharedHold[])
    else if (run[0]?.kind === 'counted') await addCounted(client, member, run as SharedCount[])
    else if (run[0]?.kind === 'bodies-from') await noteBodiesFrom(client, member, run as BodiesFrom[])
    else await addReasoning(client, run as SharedReasoning[])
  }
}

export function runsOf(changes: readonly SharedChange[]): SharedChange[][] {
  const runs: SharedChange[][] = []
  for (const change of changes) {
    const last = runs.at(-1)
    if (last?.[0]?.kind === change.kind) last.push(change)
    else runs.push([change])
  }
  return runs
}

async function noteBodiesFrom(client: pg.Client, member: string, changes: readonly BodiesFrom[]): Promise<void> {
  await client.query('update spgw.shipped set bodies_from = $2 where member = $1', [member, changes.at(-1)?.id])
}

/** The first owner stays, as in each node's own index (`ObjectStatements`). Sorted, so that two nodes do not deadlock. */
async function addObjects(client: pg.Client, changes: readonly MadeObject[]): Promise<void> {
  const rows = new Map<string, object>()
  for (const { object, input } of changes) {
    const row = { ...toObjectRow(object), input_json: input === null ? null : JSON.stringify(input) }
    const key = JSON.stringify([row.type, row.id, row.provider_id, row.credential_id])
    const known = rows.get(key)
    rows.set(key, known === undefined ? row : { ...row, ...filled(known) })
  }
  const sorted = [...rows].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row)
  await client.query(
    `insert into spgw.objects (${columns}) select ${columns}
     from jsonb_to_recordset($1::jsonb) as r(${columns.map((name) => `${name} text`).join(', ')})
     on conflict (type, id, provider_id, credential_id) do update
     set batch_id = coalesce(objects.batch_id, excluded.batch_id),
       input_json = coalesce(objects.input_json,
         case when objects.request_id = excluded.request_id then excluded.input_json end)
     where objects.project_id = excluded.project_id and objects.environment_id = excluded.environment_id`,
    [JSON.stringify(sorted)],
  )
}

/** If an object is reported twice, the first report's values stay. */
function filled(row: object): object {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))
}

async function forgetObjects(client: pg.Client, changes: readonly ForgottenObject[]): Promise<void> {
  for (const { type, id, providerId, credentialId, projectId, environmentId, until } of changes) {
    const values = [type, id, providerId, credentialId ?? '', projectId, environmentId, until]
    await client.query(
      `delete from spgw.objects where type = $1 and id = $2 and provider_id = $3 and credential_id = $4
       and project_id = $5 and environment_id = $6 and created_at <= $7`,
      values,
    )
    await client.query(
      `insert into spgw.forgotten (type, id, provider_id, credential_id, project_id, environment_id, until)
       values ($1, $2, $3, $4, $5, $6, $7)`,
      values,
    )
  }
}

async function addReasoning(client: pg.Client, changes: readonly SharedReasoning[]): Promise<void> {
  const rows = new Map(changes.map(({ name, expiresAt, sealed }) => [name, { name, expires_at: expiresAt, sealed }]))
  const sorted = [...rows].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row)
  await client.query(
    `insert into spgw.reasoning (name, expires_at, sealed)
     select name, expires_at, sealed from jsonb_to_recordset($1::jsonb) as r(name text, expires_at bigint, sealed text)
     on conflict (name) do update set expires_at = excluded.expires_at, sealed = excluded.sealed
     where reasoning.sealed <> $2`,
    [JSON.stringify(sorted), forgottenReasoning],
  )
  const forgotten = sorted.filter(({ sealed }) => sealed === forgottenReasoning).map(({ name }) => name)
  if (forgotten.length === 0) return
  // A node that has it itself does not ask others.
  await client.query(
    `insert into spgw.forgotten (type, id, provider_id, credential_id, project_id, environment_id, until)
     select $1, name, '', '', '', '', '' from unnest($2::text[]) as n(name)`,
    [reasoningType, forgotten],
  )
}

export const columns = [
  ...(['type', 'id', 'provider_id', 'credential_id', 'project_id', 'environment_id'] as const),
  ...(['key_id', 'request_id', 'created_at', 'batch_id', 'input_json'] as const),
]
