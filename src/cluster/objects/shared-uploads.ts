import type pg from 'pg'
import type { PartAnswer, UploadPart } from '../../core/objects/object-question.ts'
import type { OwnConnection } from '../own-connection.ts'

/** For one project, as `HeldInputs` has for everything on a gateway alone. Older parts are dropped, and such a file stays unknown. */
const mostBytes = 32 * 1024 * 1024
const mostUploads = 1000
/** Bytes that may wait for a PostgreSQL that does not answer. Each part counts for at least `leastWaiting`, so that small ones are bounded too. */
const mostWaiting = 32 * 1024 * 1024
const leastWaiting = 64 * 1024

const nothing = new Uint8Array()
const unknown: PartAnswer = { known: false, held: null }

/** The state of uploads whose parts reach several nodes: one row each, which only one call at a time may continue. */
export class SharedUploads {
  readonly #connection: Pick<OwnConnection, 'use'>
  #waiting = 0

  constructor(connection: Pick<OwnConnection, 'use'>) {
    this.#connection = connection
  }

  async answer(part: UploadPart): Promise<PartAnswer> {
    const bytes = Math.max(leastWaiting, part.held instanceof Uint8Array ? part.held.length : 0)
    if (this.#waiting + bytes > mostWaiting) throw new Error('too much waits for PostgreSQL')
    this.#waiting += bytes
    try {
      return await this.#connection.use((client) => steps[part.step](client, part))
    } catch (error) {
      // A broken connection only reports this much.
      throw new Error(`PostgreSQL: ${error instanceof Error ? error.message : error}`)
    } finally {
      this.#waiting -= bytes
    }
  }
}

/** Each statement is atomic, whatever other nodes do in between: at worst an upload is unknown that could have been known. */
async function take(client: pg.Client, { name, call, offset, projectId }: UploadPart): Promise<PartAnswer> {
  const held = await client.query<{ sealed: Buffer }>(
    `update spgw.uploads set call = $2, time = now()
     where name = $1 and at = $3 and (call is null or call = $2) returning sealed`,
    [name, call, offset],
  )
  const [row] = held.rows
  if (row !== undefined) return { known: true, held: row.sealed }
  const marked = await client.query<{ call: string }>(
    `insert into spgw.uploads (name, project_id, call, at) values ($1, $2, $3, 0)
     on conflict (name) do update set call = '', sealed = '', time = now() returning call`,
    [name, projectId, offset === 0 ? call : ''],
  )
  await keepBounds(client, projectId)
  return marked.rows[0]?.call === call ? { known: true, held: nothing } : unknown
}

async function give(client: pg.Client, { name, call, offset, held, projectId }: UploadPart): Promise<PartAnswer> {
  // Stored before this node was in a cluster, so it is not sealed.
  if (held !== null && !(held instanceof Uint8Array)) return unknown
  const { rowCount } = await client.query(
    'update spgw.uploads set call = $3, at = $4, sealed = $5, time = now() where name = $1 and call = $2',
    [name, call, held === null ? '' : null, offset, Buffer.from(held ?? nothing)],
  )
  if (held !== null) await keepBounds(client, projectId)
  return rowCount === 1 ? { known: true, held: null } : unknown
}

async function leave(client: pg.Client, { name, call }: UploadPart): Promise<PartAnswer> {
  const { rowCount } = await client.query('update spgw.uploads set call = null where name = $1 and call = $2', [
    name,
    call,
  ])
  return rowCount === 1 ? { known: true, held: null } : unknown
}

const steps = { take, give, leave }

/** Skips rows that another node is deleting now. */
async function keepBounds(client: pg.Client, projectId: string): Promise<void> {
  await client.query(
    `delete from spgw.uploads where name in (
       select name from spgw.uploads where name in (
         select name from (
           select name, sum(bytes) over youngest as bytes, row_number() over youngest as place from spgw.uploads
           where project_id = $1 window youngest as (order by time desc, name)) as kept
         where bytes > $2 or place > $3)
       for update skip locked)`,
    [projectId, mostBytes, mostUploads],
  )
}
