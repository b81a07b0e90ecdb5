import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { removeOldObjects } from '../../../src/cluster/objects/keep-objects.ts'
import { SharedObjects } from '../../../src/cluster/objects/shared-objects.ts'
import { SharedUploads } from '../../../src/cluster/objects/shared-uploads.ts'
import { createSchema } from '../../../src/cluster/schema/configuration.ts'
import { objectsPart } from '../../../src/cluster/schema/objects.ts'
import { ensurePart } from '../../../src/cluster/schema/parts.ts'
import type { HeldInput } from '../../../src/core/objects/batch-input.ts'
import type { PartAnswer, UploadPart } from '../../../src/core/objects/object-question.ts'
import { HeldInputs } from '../../../src/store/objects/held-inputs.ts'
import { needsPostgres, PostgresServer, postgresPrograms } from '../../support/postgres-server.ts'

const runs = 120
const [good, bad] = ['ABCDEFGH', 'abcdefgh']
const partLength = 2

/** Who holds what was seen of uploads, as one node asks. */
interface Keeper {
  answer(part: UploadPart): Promise<PartAnswer>
  /** As it is held there. */
  write(text: string): HeldInput | Uint8Array
}

function readText(held: HeldInput | Uint8Array | null): string {
  return Buffer.from(held instanceof Uint8Array ? held : (held?.rest ?? [])).toString()
}

/**
 * `strict`: takes a part at its very byte, as Gemini says. `loose`: goes on with whatever comes behind the bytes that it has, also
 * of two calls at once, and says so to both: a file may then be of two texts.
 */
class Provider {
  text = ''
  #final = false
  readonly #isStrict: boolean

  constructor(isStrict: boolean) {
    this.#isStrict = isStrict
  }

  async take(offset: number, bytes: string, final: boolean, pause: () => Promise<void>): Promise<boolean> {
    if (this.#isStrict) {
      await pause()
      return !this.#final && offset === this.text.length && this.#add(offset, bytes, final)
    }
    for (const at of bytes.split('').keys()) {
      await pause()
      // Also a call that comes after the end is told of the file.
      if (this.#final) return final
      if (offset + at > this.text.length) return false
      this.#add(offset + at, bytes.slice(at, at + 1), false)
    }
    return this.#add(offset, '', final)
  }

  #add(offset: number, bytes: string, final: boolean): true {
    if (offset + bytes.length > this.text.length) this.text += bytes
    this.#final ||= final
    return true
  }
}

/** `cut`: it is not asked; `lost`: it does what it is asked, and nobody hears. `dead`: the node dies behind the part. */
type Fault = 'cut' | 'lost' | 'dead' | null

interface PlannedCall {
  node: number
  text: string
  offset: number
  final: boolean
  faults: { take: Fault; give: Fault }
}

class World {
  readonly provider: Provider
  /** Of files that are known: what was seen of each, and what the provider has. */
  readonly known: { seen: string; kept: string }[] = []
  readonly #keepers: readonly Keeper[]
  readonly #name: string
  #calls = 0

  constructor(keepers: readonly Keeper[], name: string, isStrict: boolean) {
    this.#keepers = keepers
    this.#name = name
    this.provider = new Provider(isStrict)
  }

  async run({ node, text, offset, final, faults }: PlannedCall): Promise<void> {
    const keeper = this.#keepers[node]
    const part = { name: this.#name, call: `${this.#name} ${this.#calls++}`, projectId: 'prj_1' }
    const bytes = final ? text.slice(offset) : text.slice(offset, offset + partLength)
    const ask = async (more: Pick<UploadPart, 'step' | 'offset' | 'held'>, fault: Fault) => {
      const answer = fault === 'cut' ? undefined : await keeper?.answer({ ...part, ...more })
      return fault === null ? answer : undefined
    }
    const before = await ask({ step: 'take', offset, held: null }, faults.take)
    const taken = await this.provider.take(offset, bytes, final, pause)
    if (before?.known !== true || !taken || faults.give === 'dead') return
    const seen = readText(before.held) + bytes
    const next = { step: 'give', offset: seen.length, held: final ? null : (keeper?.write(seen) ?? null) } as const
    const given = await ask(next, faults.give)
    if (final && given?.known === true) this.known.push({ seen, kept: this.provider.text })
  }
}

/** Now and then as long as PostgreSQL takes for a few answers. */
async function pause(): Promise<void> {
  if (Math.random() < 0.4) await wait(Math.random() * 3)
  else await turn()
}

const oneOf = <T>(...values: T[]): T => values[Math.floor(Math.random() * values.length)] as T

/** A whole upload of one text, part by part over all nodes; and calls of the other text beside, at any byte and any time. */
async function simulate(keepers: readonly Keeper[], name: string, isStrict: boolean) {
  const world = new World(keepers, name, isStrict)
  const node = () => Math.floor(Math.random() * keepers.length)
  const failing = Math.random() < 0.3
  const faults = (): PlannedCall['faults'] => {
    if (!failing || Math.random() < 0.6) return { take: null, give: null }
    // Of a part that nobody could be told of only the provider knows that it came: a loose one takes it for anybody's.
    return { take: oneOf(null, 'lost', isStrict ? 'cut' : null), give: oneOf(null, 'cut', 'lost', 'dead') }
  }
  const beside: Promise<void>[] = []
  const isDisturbed = Math.random() < 0.6
  for (let offset = 0; offset < good.length; offset += partLength) {
    const final = offset + partLength >= good.length
    const disturb = async () => {
      await pause()
      const at = oneOf(offset, offset, offset, 0, 4)
      await world.run({ node: node(), text: bad, offset: at, final: oneOf(final, at >= 4), faults: faults() })
    }
    if (isDisturbed && Math.random() < 0.4) beside.push(disturb())
    if (isDisturbed) await pause()
    await world.run({ node: node(), text: good, offset, final, faults: faults() })
  }
  await Promise.all(beside)
  return world.known
}

describe.skipIf(postgresPrograms === null)(`what is held of an upload (${needsPostgres})`, () => {
  let server: PostgresServer
  const clients: pg.Client[] = []
  let shared: Keeper[]
  let uploads = 0
  beforeAll(async () => {
    server = await PostgresServer.start()
    for (let node = 0; node < 3; node++) {
      const client = new pg.Client({ host: '127.0.0.1', port: server.port, user: 'spgw', database: 'postgres' })
      await client.connect()
      clients.push(client)
    }
    await clients[0]?.query(createSchema)
    if (clients[0] !== undefined) await ensurePart(clients[0], objectsPart)
    shared = clients.map((client) => {
      // As a node's own connection: one use after the other.
      let queue: Promise<unknown> = Promise.resolve()
      const use = <Output>(run: (client: pg.Client) => Promise<Output>): Promise<Output> => {
        const turn = queue.then(() => run(client))
        queue = turn.catch(() => {})
        return turn
      }
      const keeper = new SharedUploads({ use })
      return { answer: (part) => keeper.answer(part), write: (text) => Buffer.from(text) }
    })
  })
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.end()))
    server?.remove()
  })

  const [known, unknown] = [
    { known: true, held: null },
    { known: false, held: null },
  ]

  const alone = (): Keeper[] => {
    const inputs = new HeldInputs()
    const keeper: Keeper = {
      answer: async (part) => inputs.answer(structuredClone(part)),
      write: (text) => ({
        offset: text.length,
        input: { lines: 0, models: [], objects: [], unread: null },
        rest: new Uint8Array(Buffer.from(text)),
      }),
    }
    return [keeper, keeper]
  }
  const keepersOf = { 'by one node': alone, 'by several': () => shared }
  const places = Object.entries(keepersOf)

  async function simulateAll(keepers: () => readonly Keeper[], isStrict: boolean) {
    const found = { known: 0, wrong: 0, unknown: 0 }
    for (let run = 0; run < runs; run++) {
      const files = await simulate(keepers(), `upload ${uploads++}`, isStrict)
      if (files.length === 0) found.unknown++
      for (const { seen, kept } of files) {
        found.known++
        if (seen !== kept) found.wrong++
      }
    }
    return found
  }

  it.each(places)(
    '%s never lets one text be checked while another goes up, whatever a provider takes',
    async (_, of) => {
      for (const isStrict of [false, true]) {
        const { known, wrong, unknown } = await simulateAll(of, isStrict)
        expect(wrong).toBe(0)
        expect(known).toBeGreaterThan(runs / 10)
        expect(unknown).toBeGreaterThan(runs / 10)
      }
    },
  )

  it('would be found out if two calls could go on with it at once', async () => {
    const [honest] = alone()
    if (honest === undefined) throw new Error('a node')
    const held = new Map<string, Pick<UploadPart, 'offset' | 'held'>>()
    const careless: Keeper = {
      ...honest,
      async answer({ step, name, offset, held: given }) {
        const before = held.get(name) ?? { offset: 0, held: null }
        if (step === 'take') return { known: before.offset === offset, held: before.held }
        held.set(name, { offset, held: given })
        return known
      },
    }
    const { wrong } = await simulateAll(() => [careless, careless], false)
    expect(wrong).toBeGreaterThan(0)
  })

  const part = (step: UploadPart['step'], call: string, offset: number, held: UploadPart['held'] = null) => {
    return { step, name: `upload ${uploads}`, call, projectId: 'prj_1', offset, held }
  }

  it.each(places)('%s goes on at its very byte, and to one call', async (_, of) => {
    uploads++
    const [one, two = one] = of()
    if (one === undefined || two === undefined) throw new Error('two nodes')
    const text = one.write('0123456789')
    expect(await one.answer(part('take', 'a', 0))).toMatchObject({ known: true })
    expect(await one.answer(part('give', 'a', 10, text))).toEqual(known)
    expect(await two.answer(part('take', 'b', 10))).toMatchObject({ known: true, held: text })
    expect(await two.answer(part('give', 'b', 20, text))).toEqual(known)
    expect(await one.answer(part('take', 'c', 15))).toEqual(unknown)
    expect(await one.answer(part('take', 'd', 20))).toEqual(unknown)
    expect(await one.answer(part('give', 'c', 15, text))).toEqual(unknown)
    expect(await one.answer(part('take', 'e', 0))).toEqual(unknown)
    uploads++
    expect(await one.answer(part('take', 'a', 5))).toEqual(unknown)
    expect(await one.answer(part('take', 'a', -1))).toEqual(unknown)
  })

  it.each(places)(
    '%s is lost where two calls go on with it at once, also from the beginning and at the end',
    async (_, of) => {
      const [one, two = one] = of()
      if (one === undefined || two === undefined) throw new Error('two nodes')
      for (const held of [one.write('0123456789'), null]) {
        uploads++
        const taken = await Promise.all([one.answer(part('take', 'a', 0)), two.answer(part('take', 'b', 0))])
        expect(taken.map((each) => each.known).toSorted()).toEqual([false, true])
        expect(await one.answer(part('give', 'a', 10, held))).toEqual(unknown)
        expect(await two.answer(part('give', 'b', 10, held))).toEqual(unknown)
        expect(await two.answer(part('take', 'c', 10))).toEqual(unknown)
      }
    },
  )

  it('by several is bounded, for each project: the oldest is let go', async () => {
    const [one, two = one] = shared
    if (one === undefined || two === undefined) throw new Error('two nodes')
    uploads++
    const begin = async (number: number, projectId: string, length: number) => {
      const named = { name: `upload ${uploads} ${number}`, projectId }
      await one.answer({ ...part('take', 'a', 0), ...named })
      if (length > 0) await two.answer({ ...part('give', 'a', 10, Buffer.alloc(length)), ...named })
      return async () => await two.answer({ ...part('take', 'b', 10), ...named })
    }
    const other = await begin(0, 'prj_other', 10 * 2 ** 20)
    const large = [await begin(1, 'prj_large', 15 * 2 ** 20), await begin(2, 'prj_large', 15 * 2 ** 20)]
    const last = await begin(3, 'prj_large', 15 * 2 ** 20)
    // Without what is held: 15 MiB are too much to be compared.
    expect((await large[0]?.())?.known).toBe(false)
    expect((await last()).known).toBe(true)
    await clients[0]?.query(
      "insert into spgw.uploads (name, project_id, call, at) select 'many ' || n, 'prj_many', '', 0 from generate_series(1, 1005) n",
    )
    await begin(4, 'prj_many', 0)
    const counted = await clients[0]?.query("select count(*)::int from spgw.uploads where project_id = 'prj_many'")
    expect(counted?.rows).toEqual([{ count: 1000 }])
    expect((await other()).known).toBe(true)
  })

  it('by several is bounded without waiting for another node that deletes the same', async () => {
    const [one, two] = clients
    await one?.query(
      "insert into spgw.uploads (name, project_id, call, at) select 'crowd ' || n, 'prj_crowd', '', 0 from generate_series(1, 1005) n",
    )
    await one?.query('begin')
    await one?.query("select name from spgw.uploads where project_id = 'prj_crowd' for update")
    await two?.query("set statement_timeout = '1s'")
    uploads++
    expect(await shared[1]?.answer({ ...part('take', 'a', 0), projectId: 'prj_crowd' })).toMatchObject({ known: true })
    await one?.query('commit')
    await two?.query('reset statement_timeout')
  })

  it.each(places)('%s is left as it was where nothing of a part went up', async (_, of) => {
    const [one, two = one] = of()
    if (one === undefined || two === undefined) throw new Error('two nodes')
    const text = one.write('0123456789')
    uploads++
    for (const [offset, held] of [[0], [10, text]] as const) {
      expect(await one.answer(part('take', 'a', offset))).toMatchObject({ known: true })
      expect(await one.answer(part('leave', 'a', 0))).toEqual(known)
      expect(await one.answer(part('leave', 'a', 0))).toEqual(unknown)
      const taken = await two.answer(part('take', 'b', offset))
      expect(taken).toMatchObject({ known: true, ...(held !== undefined && { held }) })
      expect(await two.answer(part('give', 'b', offset + 10, text))).toEqual(known)
    }
    // Another call went on meanwhile.
    await one.answer(part('take', 'a', 20))
    await two.answer(part('take', 'b', 20))
    expect(await one.answer(part('leave', 'a', 0))).toEqual(unknown)
    expect(await one.answer(part('take', 'c', 20))).toEqual(unknown)
  })

  it('by several is taken once, however often the same call asks for it', async () => {
    uploads++
    const [one, two] = shared
    const text = Buffer.from('0123456789')
    for (const node of shared) expect(await node.answer(part('take', 'a', 0))).toMatchObject({ known: true })
    expect(await one?.answer(part('give', 'a', 10, text))).toEqual(known)
    for (const node of shared) expect(await node.answer(part('take', 'b', 10))).toEqual({ known: true, held: text })
    expect(await two?.answer(part('give', 'b', 20, text))).toEqual(known)
    expect(await two?.answer(part('give', 'b', 20, text))).toEqual(unknown)
  })

  it('by several keeps nobody waiting who asks for something else', async () => {
    uploads++
    const [client] = clients
    const name = `upload ${uploads}`
    await client?.query("insert into spgw.uploads (name, project_id, at) values ($1, 'prj_1', 5)", [name])
    const address = { host: '127.0.0.1', port: server.port, user: 'spgw', database: 'postgres', plain: true }
    const objects = new SharedObjects({ ...address, password: null, authority: null }, async () => ({ absent: [] }))
    await client?.query('begin')
    await client?.query('select name from spgw.uploads where name = $1 for update', [name])
    const taken = objects.answer({ act: 'part', part: part('take', 'a', 5) })
    expect(await Promise.race([taken, objects.answer({ act: 'find', names: '{}', settled: false })])).toEqual([])
    await client?.query('commit')
    expect(await taken).toMatchObject({ known: true })
    await objects.close()
  })

  it('by several does not grow while PostgreSQL says nothing: what is too much is told at once', async () => {
    const silent = new SharedUploads({ use: () => new Promise(() => {}) })
    const outcomes: string[] = []
    for (let call = 0; call < 600; call++)
      silent.answer(part('take', `${call}`, 0)).catch((error: Error) => outcomes.push(error.message))
    await turn()
    expect(new Set(outcomes)).toEqual(new Set(['too much waits for PostgreSQL']))
    expect(outcomes.length).toBe(600 - 512)
  })

  it('by several goes after a day', async () => {
    const [client] = clients
    const [one] = shared
    uploads++
    await one?.answer(part('take', 'a', 0))
    await client?.query("update spgw.uploads set time = now() - interval '25 hours' where name <> $1", [
      `upload ${uploads}`,
    ])
    if (client !== undefined) await removeOldObjects(client, { before: 0, now: Date.now() })
    expect((await client?.query('select name from spgw.uploads'))?.rows).toEqual([{ name: `upload ${uploads}` }])
  })

  it.each(places)('%s is over with its last part', async (_, of) => {
    uploads++
    const [one] = of()
    if (one === undefined) throw new Error('a node')
    expect(await one.answer(part('take', 'a', 0))).toMatchObject({ known: true })
    expect(await one.answer(part('give', 'a', 0))).toEqual(known)
    expect(await one.answer(part('take', 'b', 0))).toEqual(unknown)
  })
})
