import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TestCluster } from '../support/cluster.ts'
import { type ObjectUpstream, startObjectUpstream } from '../support/object-upstream.ts'
import { needsPostgres, postgresPrograms } from '../support/postgres-server.ts'

const names = ['gw-a', 'gw-b', 'gw-c'] as const
type Name = (typeof names)[number]

/** Long enough that every part ends within a line. */
const request = (more: object = {}) => ({
  contents: [{ parts: [{ text: `secret words ${'é'.repeat(40)}` }] }],
  ...more,
})
const write = (...requests: object[]) =>
  requests.map((each, index) => `${JSON.stringify({ key: `${index}`, request: each })}\n`).join('')
const limit = { generationConfig: { maxOutputTokens: 1000 } }
const plain = write(request(limit), request({ ...limit, model: 'models/gemini-1' }), request(limit))

/** So that another call is under way meanwhile. */
function slowly(bytes: Buffer): ReadableStream {
  return new ReadableStream({
    async start(stream) {
      stream.enqueue(bytes.subarray(0, 1))
      await new Promise((resolve) => setTimeout(resolve, 500))
      stream.enqueue(bytes.subarray(1))
      stream.close()
    },
  })
}

describe.skipIf(postgresPrograms === null)(`uploads in parts to three nodes (${needsPostgres})`, () => {
  let cluster: TestCluster
  let upstream: ObjectUpstream
  const keys = { owner: '', other: '', limited: '' }
  beforeAll(async () => {
    upstream = await startObjectUpstream()
    cluster = await TestCluster.start(names, { records: 'shared' })
    const { admin, createKey } = node('gw-a').gateway
    const credential = 'AIza-account-of-uploads-0001'
    await admin.providers.add({
      name: 'gemini',
      kind: 'gemini',
      baseUrl: upstream.baseUrl,
      credential,
      skipCheck: true,
    })
    await admin.projects.add({ name: 'other' })
    await admin.environments.add({ name: 'production', project: 'other' })
    for (const where of [{}, { project: 'other' }])
      await admin.routes.add({ model: 'gemini-*', targets: ['gemini'], ...where })
    await admin.prices.set({ model: 'gemini-1', input: 2, output: 10, batchInput: 1, batchOutput: 5 })
    await admin.policies.add({ name: 'budget', budgetUsdMonth: 1, attach: ['workspace'] })
    await admin.policies.add({ name: 'no-first', denyModels: ['gemini-1'] })
    keys.owner = (await createKey('owner')).key
    keys.other = (await createKey('other', { project: 'other' })).key
    keys.limited = (await createKey('limited', { policy: 'no-first' })).key
    await cluster.converge()
  })
  afterAll(async () => {
    await cluster?.stop()
    await upstream?.close()
  })

  const node = (name: Name) => cluster.node(name)
  const query = (text: string) => cluster.postgres.query(text).trim()
  /** How many uploads a call has taken, and not given back. */
  const goneOnWith = () => Number(query("select count(*) from spgw.uploads where call <> '' and at > 0"))
  let number = 0

  class PartedUpload {
    readonly file = `files/f${++number}`
    readonly #bytes: Buffer
    readonly #count: number
    #path = ''

    private constructor(text: string, count: number) {
      this.#bytes = Buffer.from(text)
      this.#count = count
    }

    static async begin(name: Name, key: string, text: string, count: number): Promise<PartedUpload> {
      const upload = new PartedUpload(text, count)
      const url = `${upstream.baseUrl}/upload/v1beta/files?upload_id=${number}&upload_protocol=resumable`
      upstream.answer = () => ({ body: '{}', headers: { 'x-goog-upload-url': url, 'x-goog-upload-status': 'active' } })
      const begun = await fetch(`${node(name).gateway.baseUrl}/v1/gemini/upload/v1beta/files`, {
        method: 'POST',
        headers: {
          ...{ 'x-goog-api-key': key, 'content-type': 'application/json' },
          ...{ 'x-goog-upload-protocol': 'resumable', 'x-goog-upload-command': 'start' },
        },
        body: '{}',
      })
      const here = new URL(begun.headers.get('x-goog-upload-url') ?? '')
      upload.#path = here.pathname + here.search
      return upload
    }

    /** As a load balancer leads it there. `text`: other bytes of the same length than the file's. */
    async send(name: Name, part: number, more: { key?: string; text?: string; slow?: boolean } = {}) {
      const [from, to] = [part, part + 1].map((place) => Math.floor((this.#bytes.length * place) / this.#count))
      const last = part === this.#count - 1
      upstream.answer = ({ target }) => ({
        body: target.includes(`upload_id=${this.file.slice(7)}&`) && last ? this.#made() : '',
      })
      const body = (more.text === undefined ? this.#bytes : Buffer.from(more.text)).subarray(from, to)
      const response = await fetch(node(name).gateway.baseUrl + this.#path, {
        method: 'POST',
        headers: {
          ...{ 'x-goog-upload-command': last ? 'upload, finalize' : 'upload', 'x-goog-upload-offset': String(from) },
          ...(more.key === undefined ? {} : { 'x-goog-api-key': more.key }),
        },
        body: more.slow === true ? slowly(body) : body,
        duplex: 'half',
      } as RequestInit)
      await response.text()
      const outcome = response.headers.get('x-sp-error') ?? response.status
      return { outcome, id: response.headers.get('x-sp-request-id') ?? '' }
    }

    async sendAll(order: readonly Name[]): Promise<void> {
      for (const [part, name] of order.entries()) expect((await this.send(name, part)).outcome).toBe(200)
    }

    #made(): string {
      return JSON.stringify({ file: { name: this.file, uri: `https://x/v1beta/${this.file}` } })
    }
  }

  /** Again where the index is not there yet, as the SDKs do. */
  async function generate(name: Name, key: string, fileName: string) {
    const id = `batches/b${++number}`
    upstream.answer = () => ({ body: JSON.stringify({ name: id }) })
    for (let times = 0; ; times++) {
      const response = await fetch(
        `${node(name).gateway.baseUrl}/v1/gemini/v1beta/models/gemini-1:batchGenerateContent`,
        {
          method: 'POST',
          headers: { 'x-goog-api-key': key, 'content-type': 'application/json' },
          body: JSON.stringify({ batch: { inputConfig: { fileName } } }),
        },
      )
      const text = await response.text()
      const outcome = response.headers.get('x-sp-error') ?? response.status
      if (outcome === 'object_index_unavailable' && times < 20) continue
      return { outcome, text, batch: id, id: response.headers.get('x-sp-request-id') ?? '' }
    }
  }

  const notes = async (name: Name, id: string) =>
    (await node(name).gateway.record(id)).routing_signals.flatMap(({ rule, text }) => (rule === 'batch' ? [text] : []))

  /** In nano-dollars. */
  async function heldFor(name: Name, batch: string): Promise<unknown> {
    const read = () => {
      const sqlite = new Sqlite(join(node(name).dataDirectory, 'spgw.db'), { readonly: true })
      const row = sqlite.prepare('select held_json from batch_holds where batch_id = ?').pluck().get(batch)
      sqlite.close()
      return row === undefined ? undefined : JSON.parse(String(row)).hold[0]?.[2]
    }
    await expect.poll(read, { timeout: 20_000 }).toBeGreaterThan(0)
    return read()
  }

  it('are known whole, whichever nodes the parts come to, and on every node', async () => {
    const whole = await PartedUpload.begin('gw-a', keys.owner, plain, 1)
    await whole.sendAll(['gw-a'])
    const expected = await generate('gw-a', keys.owner, whole.file)
    expect(expected.outcome).toBe(200)
    const held = await heldFor('gw-a', expected.batch)
    for (const order of [
      ['gw-a', 'gw-b'],
      ['gw-b', 'gw-a', 'gw-b', 'gw-a', 'gw-b', 'gw-b', 'gw-a'],
    ] as const) {
      const parts = await PartedUpload.begin('gw-b', keys.owner, plain, order.length)
      await parts.sendAll(order)
      const made = await generate('gw-c', keys.owner, parts.file)
      expect(made.outcome).toBe(200)
      expect(await notes('gw-c', made.id)).toEqual([
        `The 3 lines of the file "${parts.file}" name "gemini-1" and 0 objects.`,
      ])
      expect(await heldFor('gw-c', made.batch)).toBe(held)
      expect(await generate('gw-c', keys.limited, parts.file)).toMatchObject({ outcome: 'policy_denied' })
    }
  })

  it('are held sealed between two parts, and no longer', async () => {
    const parts = await PartedUpload.begin('gw-a', keys.owner, plain, 3)
    const kept = () => query("select encode(sealed, 'hex') from spgw.uploads where bytes > 0")
    expect(kept()).toBe('')
    await parts.send('gw-b', 0)
    const sealed = kept()
    expect(sealed.length).toBeGreaterThan(100)
    expect(Buffer.from(sealed, 'hex').toString('latin1')).not.toContain('secret words')
    await parts.send('gw-c', 1)
    expect(kept()).not.toBe(sealed)
    await parts.send('gw-a', 2)
    expect(kept()).toBe('')
    expect(query("select distinct name ~ '^[A-Za-z0-9_-]{43}$' from spgw.uploads")).toBe('t')
  })

  it('are not believed where somebody put others in their place', async () => {
    const [one, other] = [
      await PartedUpload.begin('gw-a', keys.owner, plain, 3),
      await PartedUpload.begin('gw-a', keys.owner, plain, 3),
    ]
    await one.send('gw-a', 0)
    const [name, sealed] = query('select name, sealed from spgw.uploads where bytes > 0').split('|')
    await other.send('gw-b', 0)
    query(`update spgw.uploads set sealed = '${sealed}' where bytes > 0 and name <> '${name}'`)
    await other.send('gw-c', 1)
    await other.send('gw-a', 2)
    expect(await generate('gw-b', keys.owner, other.file)).toMatchObject({ outcome: 'invalid_request' })
    // Nor what was held before.
    await one.send('gw-c', 1)
    query(`update spgw.uploads set sealed = '${sealed}' where name = '${name}'`)
    await one.send('gw-b', 2)
    expect(await generate('gw-b', keys.owner, one.file)).toMatchObject({ outcome: 'invalid_request' })
    // Nor nothing at all, where a line ends with the first part.
    const emptied = await PartedUpload.begin('gw-a', keys.owner, write(request(limit), request(limit)), 2)
    await emptied.send('gw-a', 0)
    query("update spgw.uploads set sealed = '' where bytes > 0")
    await emptied.send('gw-b', 1)
    expect(await generate('gw-b', keys.owner, emptied.file)).toMatchObject({ outcome: 'invalid_request' })
  })

  it('are not known where bytes one by one would have a long line written again and again', async () => {
    const long = write(request({ contents: [{ parts: [{ text: 'x'.repeat(200_000) }] }] }))
    const parts = await PartedUpload.begin('gw-a', keys.owner, long, 100)
    const before = goneOnWith()
    // Of 2,000 bytes each sixteen times as many are held, and 64 KiB in any case.
    for (let part = 0; part < 32; part++) await parts.send('gw-a', part)
    expect(goneOnWith()).toBe(before)
    const { id } = await parts.send('gw-b', 32)
    expect(await notes('gw-b', id)).toEqual([expect.stringContaining('a line comes in too many parts')])
    expect(goneOnWith()).toBe(before + 1)
  })

  it('that name another project’s file, or another model, are refused', async () => {
    const own = await PartedUpload.begin('gw-a', keys.other, 'about us', 1)
    await own.sendAll(['gw-b'])
    const using = request({ contents: [{ parts: [{ fileData: { fileUri: own.file } }] }] })
    const stealing = await PartedUpload.begin('gw-a', keys.owner, write(request(), using, request()), 4)
    await stealing.sendAll(['gw-c', 'gw-b', 'gw-a', 'gw-b'])
    expect(await generate('gw-c', keys.owner, stealing.file)).toMatchObject({ outcome: 'object_not_found' })
    const elsewhere = write(request(), request({ model: 'models/gemini-2' }))
    const parts = await PartedUpload.begin('gw-a', keys.owner, elsewhere, 2)
    await parts.sendAll(['gw-a', 'gw-b'])
    expect(await generate('gw-c', keys.owner, parts.file)).toMatchObject({ outcome: 'invalid_request' })
  })

  it('are nobody else’s to go on with, or to make a batch of', async () => {
    const parts = await PartedUpload.begin('gw-a', keys.owner, plain, 3)
    await parts.send('gw-a', 0)
    expect((await parts.send('gw-b', 1, { key: keys.other })).outcome).toBe('conflicting_credentials')
    await parts.send('gw-b', 1)
    await parts.send('gw-c', 2)
    expect(await generate('gw-a', keys.other, parts.file)).toMatchObject({ outcome: 'object_not_found' })
    expect(await generate('gw-a', keys.owner, parts.file)).toMatchObject({ outcome: 200 })
  })

  const unread = expect.stringContaining('the gateway could not read its lines when it was uploaded')

  it.each([0, 1, 2])('are not known where two clients send part %i at once', async (twice) => {
    const parts = await PartedUpload.begin('gw-a', keys.owner, plain, 3)
    for (const part of [0, 1, 2]) {
      const slow = part === twice
      const both = [parts.send('gw-a', part, { slow })]
      if (slow) both.push(parts.send('gw-b', part, { slow, text: plain.replaceAll('secret', 'wicked') }))
      const sent = await Promise.all(both)
      for (const { outcome } of sent) expect(outcome).toBe(200)
      if (part < twice) continue
      for (const [index, { id }] of sent.entries())
        expect(await notes(index === 0 ? 'gw-a' : 'gw-b', id)).toEqual([
          expect.stringContaining('or another call went on with the upload too'),
        ])
    }
    const refused = await generate('gw-c', keys.owner, parts.file)
    expect(refused).toMatchObject({ outcome: 'invalid_request', text: unread })
  })

  it('go on where the node that had the last part is killed', async () => {
    const parts = await PartedUpload.begin('gw-a', keys.owner, plain, 4)
    await parts.send('gw-b', 0)
    await parts.send('gw-a', 1)
    await node('gw-a').gateway.kill('SIGKILL')
    await parts.send('gw-b', 2)
    await parts.send('gw-c', 3)
    expect(await generate('gw-c', keys.owner, parts.file)).toMatchObject({ outcome: 200 })
    await node('gw-a').restart()
    await cluster.converge()
    expect(await generate('gw-a', keys.owner, parts.file)).toMatchObject({ outcome: 200 })
  })

  it.each([0, 1, 2])('pass while PostgreSQL is away for part %i, and no batch is made of such a file', async (cut) => {
    const parts = await PartedUpload.begin('gw-a', keys.owner, plain, 3)
    for (const part of [0, 1, 2]) {
      const { proxy } = node('gw-b')
      if (part === cut) proxy.become('cut')
      const { outcome, id } = await parts.send(part === cut ? 'gw-b' : 'gw-a', part)
      expect(outcome).toBe(200)
      if (part !== cut) continue
      expect(await notes('gw-b', id)).toEqual([
        expect.stringMatching(/^What this part of the file holds could not be noted \(PostgreSQL: .*\): no batch/),
      ])
      proxy.become('pass')
    }
    const refused = await generate('gw-c', keys.owner, parts.file)
    expect(refused).toMatchObject({ outcome: 'invalid_request', text: unread })
  })

  it('are not known where PostgreSQL is cut off before what was seen of a part is back', async () => {
    const parts = await PartedUpload.begin('gw-a', keys.owner, plain, 3)
    await parts.send('gw-a', 0)
    const before = goneOnWith()
    const sending = parts.send('gw-b', 1, { slow: true })
    await expect.poll(goneOnWith).toBe(before + 1)
    node('gw-b').proxy.become('cut')
    const { outcome, id } = await sending
    node('gw-b').proxy.become('pass')
    expect(outcome).toBe(200)
    expect(await notes('gw-b', id)).toEqual([expect.stringContaining('could not be noted (PostgreSQL: ')])
    await parts.send('gw-c', 2)
    const refused = await generate('gw-a', keys.owner, parts.file)
    expect(refused).toMatchObject({ outcome: 'invalid_request', text: unread })
  })

  it('pass in time where PostgreSQL says nothing any more', async () => {
    const parts = await PartedUpload.begin('gw-a', keys.owner, plain, 2)
    await parts.send('gw-b', 0)
    node('gw-b').proxy.become('swallow')
    const begun = performance.now()
    expect((await parts.send('gw-b', 1)).outcome).toBe(200)
    expect(performance.now() - begun).toBeLessThan(3000)
    node('gw-b').proxy.become('pass')
    const refused = await generate('gw-c', keys.owner, parts.file)
    expect(refused).toMatchObject({ outcome: 'invalid_request', text: unread })
  })
})
