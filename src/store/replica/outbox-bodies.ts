import type { Database, Statement } from 'better-sqlite3'
import type { BodyPart } from '../../core/capture.ts'
import type { BodyRow } from '../schema.ts'

/** A captured body that is to be shipped, and what it takes. */
export interface NotedBody {
  id: string
  part: BodyPart
  bytes: number
}

/** One row of the outbox notes no more than so much, or one body: it is shipped whole. */
const pageBytes = 1024 * 1024
/** Of what was stored before it was shared, so that what is new does not wait long behind it. */
const historyBytes = 4 * pageBytes
const historyIds = 500

/** What of captured bodies is shipped with their records. */
export class OutboxBodies {
  readonly #read: Statement<[string], BodyRow>
  readonly #sizes: Statement<[string], NotedBody>
  readonly #before: Statement<[string, number], string>

  constructor(sqlite: Database) {
    this.#read = sqlite.prepare(
      `select b.* from json_each(?) n join bodies b on b.id = n.value ->> 0 and b.part = n.value ->> 1`,
    )
    this.#sizes = sqlite.prepare(
      `select id, part, length(sealed) as bytes from bodies where id in (select value from json_each(?))
       order by id desc, part desc`,
    )
    this.#before = sqlite
      .prepare<[string, number], string>('select distinct id from bodies where id < ? order by id desc limit ?')
      .pluck()
  }

  /** What is still here of what a row notes. */
  read(text: string): BodyRow[] {
    return this.#read.all(text)
  }

  /** The next below that id: `pageOf` them. */
  listBefore(id: string): string[] {
    return this.#before.all(id, historyIds)
  }

  /** The first of these requests, newest first, and their bodies: one at least, and no more than what is soon shipped. */
  pageOf(ids: readonly string[]): { ids: readonly string[]; bodies: NotedBody[] } {
    const bodies: NotedBody[] = []
    let bytes = 0
    for (const body of this.#sizes.all(JSON.stringify(ids))) {
      bytes += body.bytes
      if (bytes > historyBytes && body.id !== ids[0]) {
        const fitting = ids.slice(0, ids.indexOf(body.id))
        return { ids: fitting, bodies: bodies.filter(({ id }) => id !== body.id) }
      }
      bodies.push(body)
    }
    return { ids, bodies }
  }
}

/** As the outbox notes them, each text one row. */
export function noteBodies(bodies: readonly NotedBody[]): string[] {
  const pages: [string, string][][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const { id, part, bytes: own } of bodies) {
    bytes += own
    if (bytes > pageBytes) {
      pages.push([])
      bytes = own
    }
    pages.at(-1)?.push([id, part])
  }
  return pages.map((page) => JSON.stringify(page))
}
