import type pg from 'pg'
import { certainlyAhead } from '../core/clock-apart.ts'
import { alertAnswerers } from './alert-questions.ts'
import { budgetAnswerers } from './budget-questions.ts'
import { createBudgets } from './budget-schema.ts'
import { PostgresRefusal } from './connect.ts'
import type { SeenMark } from './lost-changes.ts'
import type { ClusterPeer, ClusterQuestion, JoinRequest, PartQuestion, Questions, ServerFacts } from './protocol.ts'
import { purgeAnswerers } from './records/purge.ts'
import { repriceAnswerers } from './records/reprice.ts'
import { alertReportsPart } from './schema/alert-reports.ts'
import { channel, createSchema, schemaLevel, tryChanging } from './schema/configuration.ts'
import { objectsPart } from './schema/objects.ts'
import { raisePart } from './schema/parts.ts'
import { recordsPart } from './schema/records.ts'
import { repricesPart } from './schema/reprices.ts'
import { knowsRun } from './self.ts'

type Answerers = {
  [Name in Exclude<ClusterQuestion, PartQuestion>]: (
    client: pg.Client,
    input: Questions[Name]['input'],
  ) => Promise<Questions[Name]['output']>
}

/** As many as one statement takes in some ten milliseconds. */
const rowsAtOnce = 2000
/** Changes of the configuration that a standby may have lost when it takes over: more than come in some minutes. */
const marksAtOnce = 200

/** What a row is now goes over what it was; what a newer version has put there besides stays. */
const restoreRows = `
insert into spgw.rows as r (name, key, row, sequence)
  select c.name, c.key, case when c.op = 'drop' then null else c.patch end, $2
  from jsonb_to_recordset($1::jsonb) as c(name text, key text, op text, patch jsonb)
on conflict (name, key) do update set sequence = excluded.sequence,
  row = case when excluded.row is null then null else coalesce(r.row, '{}') || excluded.row end`

/** PostgreSQL has lost what it gave last, though it may be the same server: nothing is given before all members have told what they have. */
const forgetAllowances = `
with forgotten as (update spgw.timeline set settled = '', seen = '' returning 1)
update spgw.members set declared = null from forgotten`

/** Each question to PostgreSQL. All but those that found and end a cluster are one statement. */
export const answerers: Answerers = {
  async find(client) {
    if (!(await exists(client))) return null
    const { rows } = await client.query<{ cluster: string; sequence: string }>(
      'select cluster, sequence from spgw.head',
    )
    const head = rows[0]
    if (head === undefined) return null
    return { cluster: head.cluster, sequence: Number(head.sequence), members: await listMembers(client) }
  },

  async server(client) {
    const asked = Date.now()
    const { rows } = await client.query<
      Omit<ServerFacts, 'missing' | 'aheadMs'> & { missing: string[] | null; time: string }
    >(
      `select extract(epoch from clock_timestamp()) * 1000 as time, current_setting('server_version') as version, current_user as user,
         current_setting('transaction_read_only') = 'on' as "isReadOnly",
         to_regnamespace('spgw') is not null and not ${isFounded} as "isForeign",
         (select array_remove(array[case when r.rolsuper then 'is a superuser' end,
            case when r.rolcreaterole then 'may create roles' end, case when r.rolcreatedb then 'may create databases' end,
            case when not r.rolsuper and has_schema_privilege(n.oid, 'create') then 'may change the schema spgw' end], null)
          from pg_roles r left join pg_namespace n on n.nspname = 'spgw' where r.rolname = current_user) as rights,
         (select array_remove(array[case when not has_schema_privilege(n.oid, 'usage') then 'may not use the schema spgw' end,
            (select 'may not read and write ' || string_agg('spgw.' || c.relname, ', ' order by c.relname) from pg_class c
             where c.relnamespace = n.oid and c.relkind in ('r', 'p') and not c.relispartition and not (
               has_table_privilege(c.oid, 'select') and has_table_privilege(c.oid, 'insert')
               and has_table_privilege(c.oid, 'update') and has_table_privilege(c.oid, 'delete')))], null)
          from pg_namespace n where n.nspname = 'spgw') as missing,
         (select version from pg_stat_ssl where pid = pg_backend_pid()) as tls,
         (select count(*)::int from pg_stat_replication) as standbys,
         current_setting('synchronous_standby_names') <> '' as synchronous`,
    )
    const [facts] = rows
    if (facts === undefined) throw new Error('PostgreSQL says nothing of itself')
    const { time, missing, ...rest } = facts
    return { ...rest, aheadMs: certainlyAhead(asked, Number(time), Date.now()), missing: missing ?? [] }
  },

  async found(client, { cluster, member, name, token, rows }) {
    await inTransaction(client, async () => {
      await client.query("select pg_advisory_xact_lock(hashtext('spgw'))")
      if (await exists(client)) await refuseOthers(client, name)
      else await refuseForeign(client)
      await client.query(createSchema)
      await client.query(createBudgets)
      // Nodes that may only read and write rows find all that they may come to need.
      for (const part of [recordsPart, objectsPart, repricesPart, alertReportsPart]) await raisePart(client, part)
      for (let at = 0; at < rows.length; at += rowsAtOnce)
        await client.query(
          `insert into spgw.rows (name, key, row, sequence)
           select c.name, c.key, c.row, 1 from jsonb_to_recordset($1::jsonb) as c(name text, key text, row jsonb)`,
          [
            `[${rows
              .slice(at, at + rowsAtOnce)
              .map(rowText)
              .join()}]`,
          ],
        )
      await client.query('insert into spgw.head values ($1, 1, $2)', [cluster, schemaLevel])
      await client.query('insert into spgw.members (id, name) values ($1, $2)', [member, name])
      await client.query('insert into spgw.appends (sequence, token, member) values (1, $1, $2)', [token, member])
    })
    return null
  },

  async unfound(client, { cluster }) {
    await inTransaction(client, async () => {
      const { rowCount } = await client.query('select from spgw.head where cluster = $1 for update', [cluster])
      if (rowCount === 1) await client.query('drop schema spgw cascade')
    })
    return null
  },

  async meet(client, { cluster, member, name, incarnation, version, sequence, mark, isFirst }) {
    if (!(await exists(client))) return { state: 'other cluster', sequence: 0, mark: null }
    const { rows } = await client.query<{ sequence: string; level: number; known: boolean; mark: string | null }>(
      `select h.sequence, h.level, exists (select from spgw.appends where sequence = $2 and token = $3) as known,
         (select a.token from spgw.appends a where a.sequence = h.sequence) as mark
       from spgw.head h where h.cluster = $1`,
      [cluster, sequence, mark],
    )
    const head = rows[0]
    if (head === undefined) return { state: 'other cluster', sequence: 0, mark: null }
    const at = { sequence: Number(head.sequence), mark: head.mark }
    if (head.level > schemaLevel) return { state: 'newer', ...at }
    if (!head.known) return { state: 'lost', ...at }
    const { rowCount } = await client.query(
      `update spgw.members set incarnation = $2, version = $3, beat = now(), applied = $4, name = $6
       where id = $1 and ($5 or ${knowsRun('incarnation', '$2')})
       and not exists (select from spgw.members other where other.name = $6 and other.id <> $1)`,
      [member, incarnation, version, sequence, isFirst, name],
    )
    if (rowCount === 1) {
      // Another gateway that runs as this node hears at once that it is no longer the one.
      if (isFirst) await client.query('select pg_notify($1, $2)', [channel, String(head.sequence)])
      return { state: 'member', ...at }
    }
    const { rows: found } = await client.query<{ id: string; name: string }>(
      'select id, name from spgw.members where id = $1 or name = $2',
      [member, name],
    )
    if (!found.some(({ id }) => id === member)) return { state: 'removed', ...at }
    return { state: found.length > 1 ? 'taken name' : 'doubled', ...at }
  },

  async 'may-change'(client) {
    await client.query(tryChanging)
    return null
  },

  async append(client, { cluster, sequence, member, incarnation, token, changes }) {
    const values = [cluster, sequence, member, incarnation, token, JSON.stringify(changes)]
    const { rows } = await client.query<{ at: string }>('select spgw.append($1, $2, $3, $4, $5, $6) as at', values)
    return Number(rows[0]?.at)
  },

  /** The head and the rows in one statement: read one after the other, a commit in between would be passed over for ever. */
  async rows(client, { after }) {
    const { rows } = await client.query<{ sequence: string; token: string; name: string; key: string; row: string }>(
      `select h.sequence, a.token, r.name, r.key, r.row::text as row from spgw.head h
       join spgw.appends a on a.sequence = h.sequence left join spgw.rows r on r.sequence > $1`,
      [after],
    )
    const head = rows[0]
    if (head === undefined) throw new Error('the cluster is no longer there')
    const changed = rows.filter(({ name }) => name !== null).map(({ name, key, row }) => ({ name, key, row }))
    const sequence = Number(head.sequence)
    const { rows: marks } = await client.query<{ sequence: string; token: string }>(
      'select sequence, token from spgw.appends where sequence > $1 and sequence <= $2 order by sequence',
      [Math.max(after, sequence - marksAtOnce), sequence],
    )
    const seen = marks.map(({ sequence: number, token }): SeenMark => [Number(number), token])
    return { sequence, mark: head.token, rows: changed, marks: seen }
  },

  async restore(client, { cluster, sequence, mark, member, incarnation, changes, marks }) {
    const [reached] = marks.at(-1) ?? []
    if (reached === undefined) return false
    let restored = false
    await inTransaction(client, async () => {
      const { rowCount } = await client.query(
        `select from spgw.head h join spgw.appends a on a.sequence = h.sequence
         where h.cluster = $1 and h.sequence = $2 and a.token = $3
         and exists (select from spgw.members where id = $4 and ${knowsRun('incarnation', '$5')})
         for update of h`,
        [cluster, sequence, mark, member, incarnation],
      )
      if (rowCount !== 1) return
      for (let at = 0; at < changes.length; at += rowsAtOnce)
        await client.query(restoreRows, [JSON.stringify(changes.slice(at, at + rowsAtOnce)), reached])
      await client.query(
        `insert into spgw.appends (sequence, token, member)
         select m.number, m.token, $2 from jsonb_to_recordset($1::jsonb) as m(number bigint, token text)`,
        [JSON.stringify(marks.map(([number, token]) => ({ number, token }))), member],
      )
      await client.query('update spgw.head set sequence = $2 where cluster = $1', [cluster, reached])
      await client.query(forgetAllowances)
      await client.query('select pg_notify($1, $2)', [channel, String(reached)])
      restored = true
    })
    return restored
  },

  async applied(client, { member, incarnation, sequence }) {
    const values = [member, incarnation, sequence]
    await client.query(
      'update spgw.members set applied = $3, beat = now() where id = $1 and incarnation = $2 and applied < $3',
      values,
    )
    return null
  },

  members: listMembers,

  async leave(client, { member }) {
    await client.query('delete from spgw.members where id = $1', [member])
    return null
  },

  async remove(client, { name, returns }) {
    const found = (await listMembers(client)).find((member) => member.name === name || member.id === name)
    if (found === undefined) return null
    await inTransaction(client, async () => {
      await client.query('delete from spgw.members where id = $1', [found.id])
      await client.query(
        `update spgw.allowances set ${returns ? 'given = spent' : 'spent = given'} where member = $1`,
        [found.id],
      )
    })
    return found
  },

  ...alertAnswerers,
  ...budgetAnswerers,
  ...purgeAnswerers,
  ...repriceAnswerers,

  async invite(client, { invite, minutes }) {
    await client.query('delete from spgw.invites where expires < now()')
    await client.query("insert into spgw.invites (id, expires) values ($1, now() + $2 * interval '1 minute')", [
      invite,
      minutes,
    ])
    return null
  },

  async 'ask-join'(client, { invite, member, name, publicKey, proof }) {
    const { rowCount } = await client.query(
      `update spgw.invites set member = $2, name = $3, public_key = $4, proof = $5
       where id = $1 and member is null and expires > now()`,
      [invite, member, name, publicKey, proof],
    )
    return rowCount === 1
  },

  async 'read-answer'(client, { invite }) {
    const { rows } = await client.query<{ answer: string | null }>('select answer from spgw.invites where id = $1', [
      invite,
    ])
    return rows[0]?.answer ?? null
  },

  async 'read-joins'(client, { invites }) {
    const { rows } = await client.query<JoinRequest>(
      `select id as invite, member, name, public_key as "publicKey", proof from spgw.invites
       where id = any ($1) and member is not null and answer is null and expires > now()`,
      [invites],
    )
    return rows
  },

  /** An answer that hands nothing over is empty. */
  async 'answer-join'(client, { invite, member, name, answer }) {
    await inTransaction(client, async () => {
      if (answer !== '') await client.query('insert into spgw.members (id, name) values ($1, $2)', [member, name])
      await client.query('update spgw.invites set answer = $2 where id = $1', [invite, answer])
    })
    return null
  },
}

/** Also for a user who may not use the schema. */
const isFounded = `exists (select from pg_class where relname = 'head' and relnamespace = to_regnamespace('spgw'))`

async function exists(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>(`select ${isFounded} as found`)
  return rows[0]?.found === true
}

/** One that this node began and never came to use is begun again. */
async function refuseOthers(client: pg.Client, name: string): Promise<void> {
  const members = await listMembers(client)
  if (members.some((member) => member.name !== name || member.heardAt !== null))
    throw new PostgresRefusal(
      `there is a cluster already, of ${members.map((member) => member.name).join(', ')}`,
      'A new gateway joins it: spgw cluster join TOKEN',
    )
  await client.query('drop schema spgw cascade')
}

async function refuseForeign(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ found: boolean }>("select to_regnamespace('spgw') is not null as found")
  if (rows[0]?.found === true)
    throw new PostgresRefusal(
      'the database has a schema spgw that is not a cluster',
      'Drop that there, or name another database in cluster.postgres.',
    )
}

async function listMembers(client: pg.Client): Promise<ClusterPeer[]> {
  const { rows } = await client.query<{
    id: string
    name: string
    version: string | null
    applied: string
    beat: Date | null
    silent: string | null
  }>(
    `select id, name, version, applied, beat, extract(epoch from now() - beat) * 1000 as silent
     from spgw.members order by name`,
  )
  return rows.map(({ id, name, version, applied, beat, silent }) => ({
    ...{ id, name, version, applied: Number(applied) },
    heardAt: beat === null ? null : beat.toISOString(),
    silentMs: silent === null ? null : Math.max(0, Number(silent)),
  }))
}

function rowText({ name, key, row }: { name: string; key: string; row: string | null }): string {
  return `{"name":${JSON.stringify(name)},"key":${JSON.stringify(key)},"row":${row ?? 'null'}}`
}

async function inTransaction(client: pg.Client, run: () => Promise<void>): Promise<void> {
  await client.query('begin')
  try {
    await run()
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}
