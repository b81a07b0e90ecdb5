import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { RequestRecord } from '../../src/core/record.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { type Arrival, type ObjectUpstream, type Reply, startObjectUpstream } from '../support/object-upstream.ts'

const first = 'sk-account-that-is-first-0001'
const second = 'sk-account-that-is-second-0002'

let directory: string
let upstream: ObjectUpstream
let gateway: TestGateway
let owner: OpenAI
let other: OpenAI

async function connect(): Promise<void> {
  const client = (apiKey: string) => new OpenAI({ apiKey, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 5 })
  owner = client((await gateway.createKey(`owner-${Date.now()}`)).key)
  other = client((await gateway.createKey(`other-${Date.now()}`, { project: 'other' })).key)
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spgw-object-life-'))
  upstream = await startObjectUpstream()
  gateway = await startGateway({ dataDirectory: directory })
  const { admin } = gateway
  await admin.providers.add({
    name: 'openai',
    kind: 'openai',
    baseUrl: upstream.baseUrl,
    credential: first,
    skipCheck: true,
  })
  await admin.providers.credentials.add({ name: 'openai', credential: second, skipCheck: true })
  await gateway.addRoute('fast', ['openai:gpt-upstream'])
  await admin.projects.add({ name: 'other' })
  await admin.environments.add({ name: 'production', project: 'other' })
  await admin.routes.add({ model: 'fast', targets: ['openai'], project: 'other' })
  await connect()
})

afterAll(async () => {
  await gateway.stop()
  await upstream.close()
  await rm(directory, { recursive: true, force: true })
})

beforeEach(() => {
  upstream.arrivals.length = 0
})

const json = (body: object): Reply => ({ body: JSON.stringify(body) })
const store = (id: string) => json({ id, object: 'vector_store' })
const lastArrival = () => upstream.arrivals.at(-1)!
const response = { id: 'resp_1', object: 'response', status: 'completed', model: 'gpt-upstream', output: [] }

function events(...list: { type: string; response?: object }[]): Reply {
  const body = list.map(
    (event, sequence_number) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`,
  )
  return { type: 'text/event-stream', body: body.join('') }
}

async function refusalOf(promise: PromiseLike<unknown>): Promise<[number | undefined, string | null | undefined]> {
  try {
    await promise
  } catch (error) {
    if (error instanceof OpenAI.APIError) return [error.status, error.headers?.get('x-sp-error')]
    throw error
  }
  throw new Error('it was answered')
}

const notFound = [404, 'object_not_found']

describe('an object made through the gateway', () => {
  it('is found again by its maker at the account that has it, by nobody else, and is forgotten when it is deleted', async () => {
    upstream.answer = () => store('vs_1')
    await owner.vectorStores.create({})
    const account = lastArrival().credential
    for (let times = 0; times < 3; times++) {
      await owner.vectorStores.retrieve('vs_1')
      expect(lastArrival().credential).toBe(account)
    }
    const arrived = upstream.arrivals.length
    expect(await refusalOf(other.vectorStores.retrieve('vs_1'))).toEqual(notFound)
    expect(await refusalOf(other.vectorStores.delete('vs_1'))).toEqual(notFound)
    expect(upstream.arrivals).toHaveLength(arrived)
    upstream.answer = () => ({ status: 500, body: '{}' })
    await refusalOf(owner.vectorStores.delete('vs_1', { maxRetries: 0 }))
    upstream.answer = () => json({ id: 'vs_1', deleted: true })
    await owner.vectorStores.delete('vs_1')
    expect(await gateway.admin.objects.list({ all: true, type: 'vector_store' })).toEqual([])
    expect(await refusalOf(owner.vectorStores.retrieve('vs_1'))).toEqual(notFound)
  })

  it('stays its first owner’s, whatever an answer to somebody else says', async () => {
    // The credentials of a pool take turns: each project makes one at each account.
    upstream.answer = ({ credential }) => store(`vs_of_${credential.slice(-4)}`)
    for (const client of [owner, owner, other, other]) await client.vectorStores.create({})
    const known = await gateway.admin.objects.list({ all: true, type: 'vector_store' })
    expect(known.map(({ id, project }) => [id, project]).sort()).toEqual([
      ['vs_of_0001', 'default'],
      ['vs_of_0002', 'default'],
    ])
    expect(await refusalOf(other.vectorStores.retrieve('vs_of_0001'))).toEqual(notFound)
  })

  it('can be named as soon as a stream has shown it', async () => {
    upstream.answer = () =>
      events(
        { type: 'response.created', response: { ...response, id: 'resp_2', status: 'in_progress' } },
        { type: 'response.completed', response: { ...response, id: 'resp_2' } },
      )
    const stream = await owner.responses.create({ model: 'fast', input: 'hi', stream: true })
    for await (const _ of stream) break
    upstream.answer = () => json({ ...response, id: 'resp_3' })
    await owner.responses.create({ model: 'fast', input: 'on', previous_response_id: 'resp_2' })
    expect(JSON.parse(lastArrival().body)).toMatchObject({ model: 'gpt-upstream', previous_response_id: 'resp_2' })
    const foreign = other.responses.create({ model: 'fast', input: 'on', previous_response_id: 'resp_2' })
    expect(await refusalOf(foreign)).toEqual([400, 'object_not_found'])
  })

  it('is known from an answer that is large, and left to be adopted where that is too large to be read', async () => {
    const output = (mebibytes: number) => [
      { type: 'message', content: [{ type: 'output_text', text: 'x'.repeat(mebibytes * 2 ** 20) }] },
    ]
    upstream.answer = () => json({ ...response, id: 'resp_large', output: output(3) })
    const large = await owner.responses.create({ model: 'fast', input: 'hi' })
    expect(JSON.stringify(large.output).length).toBeGreaterThan(3 * 2 ** 20)
    await owner.responses.cancel('resp_large')
    upstream.answer = () => json({ ...response, id: 'resp_huge', output: output(17) })
    const { response: huge } = await owner.responses.create({ model: 'fast', input: 'hi' }).withResponse()
    const record = await gateway.record(huge.headers.get('x-sp-request-id') ?? '')
    expect(record.routing_signals.at(-1)).toMatchObject({ rule: 'answer_not_read', verdict: 'note' })
    expect(await refusalOf(owner.responses.retrieve('resp_huge'))).toEqual(notFound)
  })

  it('is nobody’s where the client did not want it kept', async () => {
    upstream.answer = () => json({ ...response, id: 'resp_4', store: false })
    await owner.responses.create({ model: 'fast', input: 'hi', store: false })
    expect(await refusalOf(owner.responses.retrieve('resp_4'))).toEqual(notFound)
  })

  it('is reached after the routes have gone elsewhere, and not at all without its credential', async () => {
    upstream.answer = () => store('vs_3')
    await owner.vectorStores.create({})
    const account = lastArrival().credential
    const { admin } = gateway
    const elsewhere = {
      name: 'elsewhere',
      kind: 'openai',
      baseUrl: upstream.baseUrl,
      credential: 'sk-elsewhere-00000000000000',
      skipCheck: true,
    }
    await admin.providers.add(elsewhere)
    await admin.environments.edit({ name: 'production', defaultProviders: { openai: 'elsewhere' } })
    await owner.vectorStores.retrieve('vs_3')
    expect(lastArrival().credential).toBe(account)
    await admin.providers.deactivate({ name: 'openai' })
    expect(await refusalOf(owner.vectorStores.retrieve('vs_3', { maxRetries: 0 }))).toEqual([503, 'provider_not_ready'])
    await admin.providers.activate({ name: 'openai' })
    await owner.vectorStores.retrieve('vs_3')
    await admin.environments.edit({ name: 'production', defaultProviders: { openai: 'openai' } })
  })

  it('stays with the account when its credential is replaced, and is out of reach when that is removed', async () => {
    upstream.answer = () => store('vs_4')
    await owner.vectorStores.create({})
    const replace = lastArrival().credential.slice(-4)
    const { admin } = gateway
    const renewed = `sk-account-that-is-renewed-${replace}`
    await admin.providers.edit({ name: 'openai', credential: renewed, replace, skipCheck: true })
    await owner.vectorStores.retrieve('vs_4')
    expect(lastArrival().credential).toBe(renewed)
    const only = { name: 'brief', kind: 'openai', baseUrl: upstream.baseUrl, skipCheck: true }
    await admin.providers.add({ ...only, credential: 'sk-account-that-is-brief-0003' })
    await admin.providers.credentials.add({
      name: 'brief',
      credential: 'sk-account-that-is-brief-0004',
      skipCheck: true,
    })
    await admin.objects.adopt({ name: 'vs_5', type: 'vector_store', provider: 'brief', credential: '0004' })
    await owner.vectorStores.retrieve('vs_5')
    await admin.providers.credentials.remove({ name: 'brief', credential: '0004' })
    const gone = owner.vectorStores.retrieve('vs_5', { maxRetries: 0 })
    expect(await refusalOf(gone)).toEqual([503, 'provider_not_ready'])
    await admin.providers.remove({ name: 'brief' })
    expect(await refusalOf(owner.vectorStores.retrieve('vs_5'))).toEqual(notFound)
  })

  it('cannot be named together with one in another account', async () => {
    const { admin } = gateway
    await admin.objects.adopt({ name: 'file-one', type: 'file', provider: 'openai', credential: first.slice(-4) })
    await admin.objects.adopt({ name: 'file-two', type: 'file', provider: 'openai', credential: second.slice(-4) })
    const together = owner.vectorStores.create({ file_ids: ['file-one', 'file-two'] })
    expect(await refusalOf(together)).toEqual([400, 'invalid_request'])
  })
})

describe('what operators say of objects', () => {
  it('is obeyed at once, and audited', async () => {
    const { admin } = gateway
    upstream.answer = () => json({ id: 'file-adopted', object: 'file' })
    expect(await refusalOf(other.files.retrieve('file-adopted'))).toEqual(notFound)
    const where = { project: 'other', credential: second.slice(-4) }
    const adopted = await admin.objects.adopt({ name: 'file-adopted', type: 'file', provider: 'openai', ...where })
    expect(adopted).toMatchObject({ project: 'other', key_id: null, request_id: null })
    await other.files.retrieve('file-adopted')
    expect(lastArrival().credential).toBe(second)
    expect(await admin.objects.show({ name: 'file-adopted' })).toEqual(adopted)
    await expect(
      admin.objects.adopt({ name: 'file-adopted', type: 'file', provider: 'openai', ...where }),
    ).rejects.toThrow('belongs to other/production already')
    await expect(admin.objects.adopt({ name: 'file-new', type: 'file', provider: 'openai' })).rejects.toThrow(
      'has 2 credentials',
    )
    await admin.objects.forget({ name: 'file-adopted' })
    expect(await refusalOf(other.files.retrieve('file-adopted'))).toEqual(notFound)
    const lines = await admin.audit.list({ resource: 'file-adopted' })
    expect(lines.map(({ operation }) => operation)).toEqual(['objects.forget', 'objects.adopt'])
  })

  it('tells why a call was refused, which the client never learns', async () => {
    const id = await other.vectorStores
      .retrieve('vs_of_0001')
      .catch((error: InstanceType<typeof OpenAI.APIError>) => error.headers?.get('x-sp-request-id') ?? '')
    const record: RequestRecord = await gateway.record(String(id))
    expect(record).toMatchObject({ status: 404, error: { code: 'object_not_found', origin: 'client' } })
    const tells = record.routing_signals.filter(({ text }) => /belongs to another scope \(project prj_/.test(text))
    // Operators of single projects are not shown the notes.
    expect(tells).toMatchObject([{ rule: 'object', verdict: 'note' }])
  })
})

/** What everybody has made at one account (by its credential's end), newest first, in pages as the provider gives them. */
function listFiles(accounts: Record<string, string[]>) {
  return ({ target, credential }: Arrival): Reply => {
    const query = new URL(target, 'http://upstream').searchParams
    const all = accounts[credential.slice(-4)] ?? []
    const from = query.has('after') ? all.indexOf(query.get('after')!) + 1 : 0
    const data = all.slice(from, from + Number(query.get('limit') ?? 2)).map((id) => ({ id, object: 'file', bytes: 1 }))
    return json({
      object: 'list',
      data,
      has_more: from + data.length < all.length,
      first_id: data[0]?.id,
      last_id: data.at(-1)?.id,
    })
  }
}

describe('a list', () => {
  it('goes through all accounts and past what is of others, and ends', async () => {
    const accounts: Record<string, string[]> = {
      '0001': ['x1', 'x2', 'x3', 'own-1', 'x4', 'own-2', 'x5'],
      '0002': ['own-3', 'x6', 'x7', 'x8', 'own-4'],
    }
    for (const [account, ids] of Object.entries(accounts))
      for (const name of ids.filter((id) => id.startsWith('own')))
        await gateway.admin.objects.adopt({
          name,
          type: 'file',
          provider: 'openai',
          credential: account,
          project: 'other',
        })
    upstream.answer = listFiles(accounts)
    const seen: string[] = []
    for await (const { id } of other.files.list({ limit: 2 })) seen.push(id)
    expect(seen.sort()).toEqual(['own-1', 'own-2', 'own-3', 'own-4'])
    const page = await other.files.list({ limit: 100 })
    expect(page.data.every(({ bytes }) => bytes === 1)).toBe(true)
  })

  it('ends with the last of the caller’s, however much of others follows', async () => {
    const strangers = Array.from({ length: 300 }, (_, index) => `stranger-${index}`)
    for (const name of ['batch-1', 'batch-2', 'batch-3'])
      await gateway.admin.objects.adopt({
        name,
        type: 'batch',
        provider: 'openai',
        credential: '0001',
        project: 'other',
      })
    upstream.answer = listFiles({ '0001': ['batch-1', 'x1', 'batch-2', 'x2', 'batch-3', 'x3', ...strangers] })
    const seen: string[] = []
    for await (const { id } of other.batches.list({ limit: 2 })) seen.push(id)
    expect(seen).toEqual(['batch-1', 'batch-2', 'batch-3'])
    expect(upstream.arrivals).toHaveLength(3)
    // Asked for one that is nobody’s, the provider would tell whether it is there.
    upstream.arrivals.length = 0
    await gateway.admin.objects.forget({ name: 'batch-1' })
    await expect(other.batches.list({ limit: 2, after: 'batch-1' })).rejects.toMatchObject({ status: 404 })
    expect(upstream.arrivals).toHaveLength(0)
  })

  it('asks for no more than the first page where the caller has nothing, and shows nothing', async () => {
    upstream.answer = listFiles({ '0001': ['x1', 'x2', 'x3'], '0002': ['x1', 'x2', 'x3'] })
    const { data, has_more } = await other.containers.list({ limit: 2 })
    expect([data, has_more]).toEqual([[], false])
    expect(upstream.arrivals).toHaveLength(1)
  })

  it('finds back to the right account by a token too', async () => {
    const { admin } = gateway
    const accounts: Record<string, string[]> = {
      '0001': ['files/x1', 'files/own-1', 'files/x2', 'files/own-2'],
      '0002': ['files/x3', 'files/x4', 'files/x5', 'files/own-3'],
    }
    const place = { name: 'gemini', kind: 'gemini', baseUrl: upstream.baseUrl, skipCheck: true }
    await admin.providers.add({ ...place, credential: 'AIza-account-that-is-first-0001' })
    const another = { name: 'gemini', credential: 'AIza-account-that-is-second-0002', skipCheck: true }
    await admin.providers.credentials.add(another)
    for (const [credential, ids] of Object.entries(accounts))
      for (const name of ids.filter((id) => id.includes('own')))
        await admin.objects.adopt({ name, type: 'file', provider: 'gemini', credential })
    upstream.answer = ({ target, credential }) => {
      const from = Number(new URL(target, 'http://upstream').searchParams.get('pageToken') ?? 0)
      const all = accounts[credential.slice(-4)] ?? []
      const more = from + 2 < all.length ? { nextPageToken: String(from + 2) } : {}
      return json({ files: all.slice(from, from + 2).map((name) => ({ name })), ...more })
    }
    const seen: string[] = []
    for (let token = ''; ; ) {
      const answer = await fetch(`${gateway.baseUrl}/v1/gemini/v1beta/files?pageSize=2&pageToken=${token}`, {
        headers: { authorization: `Bearer ${owner.apiKey}` },
      })
      const page = (await answer.json()) as { files: { name: string }[]; nextPageToken?: string }
      seen.push(...page.files.map(({ name }) => name))
      token = page.nextPageToken ?? ''
      if (token === '') break
      expect(token).toMatch(/^spgw\./)
    }
    expect(seen.sort()).toEqual(['files/own-1', 'files/own-2', 'files/own-3'])
    await admin.providers.remove({ name: 'gemini' })
  })

  it('that cannot be read is not shown', async () => {
    upstream.answer = () => json({ data: 'secrets of others' })
    expect(await refusalOf(other.files.list({}, { maxRetries: 0 }))).toEqual([502, 'provider_bad_response'])
  })
})

describe('kill -9', () => {
  it('between an answer’s objects and its record, and the death of the store: the object is its maker’s, once', async () => {
    await gateway.stop()
    gateway = await startGateway({
      dataDirectory: directory,
      environment: { SPGW_FAULT_POINT: 'journal.after-objects' },
    })
    upstream.answer = () => store('vs_kill')
    const key = (await gateway.createKey('killed')).key
    const made = fetch(`${gateway.baseUrl}/v1/vector_stores`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{}',
    })
    await expect(made).rejects.toThrow()
    await gateway.ended
    // The store's thread dies when it has stored something for the fifth time, and is started again.
    const environment = { SPGW_FAULT_POINT: 'ingest.after-commit:5:throw' }
    gateway = await startGateway({ dataDirectory: directory, environment })
    await connect()
    while (!gateway.stderr().includes('the store thread crashed')) await owner.vectorStores.retrieve('vs_kill')
    const known = await gateway.admin.objects.list({ all: true, type: 'vector_store' })
    expect(known.filter(({ id }) => id === 'vs_kill')).toHaveLength(1)
    await owner.vectorStores.retrieve('vs_kill')
    expect(await refusalOf(other.vectorStores.retrieve('vs_kill'))).toEqual(notFound)
    const [record] = await gateway.admin.requests.list({ key: 'killed', limit: 10 })
    expect(record?.state).toBe('interrupted')
  })
})
