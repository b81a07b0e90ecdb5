import pg from 'pg'

/** The tables for one kind of work. They are added to the schema `spgw` by the first node that does it. */
export interface SchemaPart {
  name: string
  /** The statements from each level to the next, starting from nothing. A released step is never changed, and steps only add. */
  steps: readonly string[]
}

const parts = `create table if not exists spgw.parts (name text primary key, level integer not null)`

/** Upgrades the part to this version's level. What a newer version added stays, since versions only add. False: there is no cluster yet. */
export async function ensurePart(client: pg.Client, { name, steps }: SchemaPart): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>("select to_regclass('spgw.head') is not null as found")
  if (rows[0]?.found !== true) return false
  if ((await levelOf(client, name)) >= steps.length) return true
  await client.query('begin')
  try {
    // One node at a time: the second finds it done.
    await client.query("select pg_advisory_xact_lock(hashtext('spgw'))")
    await raisePart(client, { name, steps })
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw mayNotChange(error) ? new Error(needsOwner) : error
  }
  return true
}

/** Runs in the open transaction. */
export async function raisePart(client: pg.Client, { name, steps }: SchemaPart): Promise<void> {
  await client.query(parts)
  const level = await levelOf(client, name)
  for (const step of steps.slice(level)) await client.query(step)
  await client.query(
    `insert into spgw.parts (name, level) values ($1, $2)
     on conflict (name) do update set level = greatest(spgw.parts.level, excluded.level)`,
    [name, steps.length],
  )
}

const needsOwner =
  'its tables are older than this version, and this user may not change them: start one node once as their owner, see docs/cluster.md'

function mayNotChange(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '42501'
}

async function levelOf(client: pg.Client, name: string): Promise<number> {
  const { rows } = await client.query<{ found: boolean }>("select to_regclass('spgw.parts') is not null as found")
  if (rows[0]?.found !== true) return 0
  const known = await client.query<{ level: number }>('select level from spgw.parts where name = $1', [name])
  return known.rows[0]?.level ?? 0
}
