import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { type ObjectUpstream, startObjectUpstream } from '../support/object-upstream.ts'

let directory: string
let upstream: ObjectUpstream
let gateway: TestGateway
const keys = { owner: '', other: '', limited: '' }

async function start(): Promise<void> {
  gateway = await startGateway({ dataDirectory: directory, environment: { SPGW_GATEWAY_WORKERS: '2' } })
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spgw-batch-inputs-'))
  upstream = await startObjectUpstream()
  await start()
  const { admin } = gateway
  const credentials = { openai: 'sk-account-of-inputs-0001', gemini: 'AIza-account-of-inputs-0001' }
  for (const [kind, credential] of Object.entries(credentials))
    await admin.providers.add({ name: kind, kind, baseUrl: upstream.baseUrl, credential, skipCheck: true })
  await admin.projects.add({ name: 'other' })
  await admin.environments.add({ name: 'production', project: 'other' })
  for (const project of [undefined, 'other']) {
    const where = project === undefined ? {} : { project }
    await admin.routes.add({ model: 'gpt-*', targets: ['openai'], ...where })
    await admin.routes.add({ model: 'fast', targets: ['openai:gpt-1-mini'], ...where })
    await admin.routes.add({ model: 'gemini-*', targets: ['gemini'], ...where })
  }
  await admin.policies.add({ name: 'small-only', denyModels: ['gpt-2'] })
  keys.owner = (await gateway.createKey('owner')).key
  keys.other = (await gateway.createKey('other', { project: 'other' })).key
  keys.limited = (await gateway.createKey('limited', { policy: 'small-only' })).key
})

afterAll(async () => {
  await gateway.stop()
  await upstream.close()
  await rm(directory, { recursive: true, force: true })
})

let number = 0

interface Part {
  name: string
  value: string | File
}

const lines = (text: string): Part => ({ name: 'file', value: new File([text], 'in.jsonl') })
const purpose = (value = 'batch'): Part => ({ name: 'purpose', value })

/** Resolves to the file's id. */
async function upload(key: string, parts: readonly Part[]): Promise<string> {
  const id = `file-${++number}`
  upstream.answer = () => ({ body: JSON.stringify({ id, object: 'file' }) })
  const form = new FormData()
  for (const { name, value } of parts) form.append(name, value)
  const headers = { authorization: `Bearer ${key}` }
  const response = await fetch(`${gateway.baseUrl}/v1/files`, { method: 'POST', body: form, headers })
  expect(response.status).toBe(200)
  return id
}

async function post(key: string, path: string, body: object) {
  upstream.answer = () => ({ body: JSON.stringify({ id: `batch_${++number}`, name: `batches/b${number}` }) })
  const sent = upstream.arrivals.length
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await fetch(`${gateway.baseUrl}/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  const text = await response.text()
  const outcome = response.headers.get('x-sp-error') ?? response.status
  return { outcome, text, id: response.headers.get('x-sp-request-id') ?? '', sent: upstream.arrivals.length - sent }
}

const makeBatch = (key: string, input_file_id: string, more: object = {}) =>
  post(key, '/batches', { input_file_id, endpoint: '/v1/responses', completion_window: '24h', ...more })

const line = (body: object, url = '/v1/responses') =>
  JSON.stringify({ custom_id: `${++number}`, method: 'POST', url, body })
const asks = (model: string, more: object = {}) => line({ model, input: 'hi', ...more })
const reading = (file_id: string) => ({ input: [{ role: 'user', content: [{ type: 'input_file', file_id }] }] })

describe('a batch of a file on the OpenAI lane', () => {
  it('is made where all that its lines name is the caller’s, whatever order the form has', async () => {
    const own = await upload(keys.owner, [purpose('assistants'), lines('about us')])
    const text = `${asks('gpt-1')}\n${asks('gpt-2', reading(own))}\n`
    for (const parts of [
      [lines(text), purpose()],
      [purpose(), lines(text)],
    ]) {
      const { outcome, sent, id } = await makeBatch(keys.owner, await upload(keys.owner, parts))
      expect([outcome, sent]).toEqual([200, 1])
      const record = await gateway.record(id)
      const said = record.routing_signals.filter(({ rule }) => rule === 'batch').map((signal) => signal.text)
      expect(said.join()).toContain('name "gpt-1", "gpt-2" and 1 objects')
    }
  })

  it.each<[string, () => Promise<[key: string, text: string]>, string, string]>([
    [
      'another project’s object',
      async () => {
        const foreign = await upload(keys.other, [purpose('assistants'), lines('theirs')])
        return [keys.owner, `${asks('gpt-1')}\n${asks('gpt-1', reading(foreign))}`]
      },
      'object_not_found',
      'No such File object: file-',
    ],
    [
      'a model that the policy denies',
      async () => [keys.limited, `${asks('gpt-1')}\n${asks('gpt-2')}`],
      'policy_denied',
      'gpt-2',
    ],
    [
      'a model that the route calls another name',
      async () => [keys.owner, asks('fast')],
      'invalid_request',
      'gpt-1-mini',
    ],
    [
      'no endpoint of the lane',
      async () => [keys.owner, line({ model: 'gpt-1' }, '/v1/files')],
      'invalid_request',
      'line 1',
    ],
    ['nothing that is JSON', async () => [keys.owner, `${asks('gpt-1')}\n{"custom_id":`], 'invalid_request', 'line 2'],
  ])('is refused where a line names %s, before anything is sent', async (_, given, code, said) => {
    const [key, text] = await given()
    const id = await upload(key, [lines(text), purpose()])
    const { outcome, sent, text: answer } = await makeBatch(key, id)
    expect([outcome, sent]).toEqual([code, 0])
    expect(answer).toContain(said)
  })

  it('is refused where its lines were not seen, or one of two files', async () => {
    const good = lines(asks('gpt-1'))
    const unseen = [
      [purpose('user_data'), good],
      [purpose(), good, good],
      [purpose(), lines('about us')],
    ]
    for (const parts of unseen) {
      const { outcome, sent } = await makeBatch(keys.owner, await upload(keys.owner, parts))
      expect([outcome, sent]).toEqual(['invalid_request', 0])
    }
    const id = await upload(keys.owner, [purpose('user_data'), good])
    const { text } = await makeBatch(keys.owner, id)
    expect(text).toContain(`made of the file \\"${id}\\": the gateway could not read its lines when it was uploaded.`)
    expect(text).toContain('a form to /v1/files with the purpose `batch`')
  })

  it('is refused a file in parts before the first of them', async () => {
    const about = { bytes: 12, filename: 'in.jsonl', mime_type: 'application/jsonl' }
    for (const said of [{ purpose: 'batch' }, { Purpose: 'batch' }]) {
      const { outcome, sent, text } = await post(keys.owner, '/uploads', { ...about, ...said })
      expect([outcome, sent]).toEqual(['invalid_request', 0])
      expect(JSON.parse(text).error.param).toBe('purpose')
    }
    expect(await post(keys.owner, '/uploads', { ...about, purpose: 'user_data' })).toMatchObject({
      outcome: 200,
      sent: 1,
    })
  })

  it('is an operator’s word where he adopted the file, but for models', async () => {
    const adopt = (name: string) => gateway.admin.objects.adopt({ name, type: 'file', provider: 'openai' })
    await adopt('file-adopted')
    expect(await makeBatch(keys.owner, 'file-adopted')).toMatchObject({ outcome: 200, sent: 1 })
    expect(await makeBatch(keys.limited, 'file-adopted')).toMatchObject({ outcome: 'policy_denied', sent: 0 })
  })

  it('asks for an endpoint that the lane serves in batches', async () => {
    const id = await upload(keys.owner, [lines(asks('gpt-1')), purpose()])
    for (const endpoint of ['/v1/files', 'responses', '/v1/responses/resp_1', 7])
      expect(await makeBatch(keys.owner, id, { endpoint })).toMatchObject({ outcome: 'invalid_request', sent: 0 })
  })

  it('knows the lines after a crash, and forgets them with the file', async () => {
    const denied = await upload(keys.limited, [lines(asks('gpt-2')), purpose()])
    await gateway.kill('SIGKILL')
    await start()
    expect(await makeBatch(keys.limited, denied)).toMatchObject({ outcome: 'policy_denied', sent: 0 })
    await gateway.admin.objects.forget({ name: denied })
    await gateway.admin.objects.adopt({ name: denied, type: 'file', provider: 'openai' })
    expect(await makeBatch(keys.owner, denied)).toMatchObject({ outcome: 200, sent: 1 })
  })
})

describe('a batch of a file on the Gemini lane', () => {
  const request = (more: object = {}) => ({ contents: [{ parts: [{ text: 'hi' }] }], ...more })
  const using = (fileUri: string) => request({ contents: [{ parts: [{ fileData: { fileUri } }] }] })
  const write = (...requests: object[]) =>
    requests.map((each, index) => `${JSON.stringify({ key: `${index}`, request: each })}\n`).join('')

  /** In as many parts; every other one on a connection of its own, which may be another thread's. */
  async function uploadParts(key: string, text: string, count = 2, skip: number | null = null): Promise<string> {
    const { name, here } = await beginUpload(key)
    const bytes = Buffer.from(text)
    for (let part = 0; part < count; part++) {
      const [from, to] = [part, part + 1].map((place) => Math.floor((bytes.length * place) / count)) as [number, number]
      const last = part === count - 1
      upstream.answer = () => ({
        body: last ? JSON.stringify({ file: { name, uri: `https://x/v1beta/${name}` } }) : '',
      })
      const command = last ? 'upload, finalize' : 'upload'
      const told = { 'x-goog-upload-command': command, 'x-goog-upload-offset': String(from), connection: 'close' }
      const body = part === skip ? bytes.subarray(from, to - 1) : bytes.subarray(from, to)
      expect((await fetch(here, { method: 'POST', headers: told, body })).status).toBe(200)
    }
    return name
  }

  /** Resolves to the URL at which it goes on. */
  async function beginUpload(key: string): Promise<{ name: string; here: string }> {
    const name = `files/f${++number}`
    const url = `${upstream.baseUrl}/upload/v1beta/files?upload_id=${number}&upload_protocol=resumable`
    upstream.answer = () => ({ body: '{}', headers: { 'x-goog-upload-url': url, 'x-goog-upload-status': 'active' } })
    const start = { 'x-goog-upload-protocol': 'resumable', 'x-goog-upload-command': 'start' }
    const headers = { 'x-goog-api-key': key, 'content-type': 'application/json', ...start }
    const begun = await fetch(`${gateway.baseUrl}/v1/gemini/upload/v1beta/files`, {
      method: 'POST',
      headers,
      body: '{}',
    })
    return { name, here: begun.headers.get('x-goog-upload-url') ?? '' }
  }

  /** The first byte now, and the rest when it is let go. */
  function inTwo(text: string): { body: ReadableStream; go: () => void } {
    const gate = Promise.withResolvers<void>()
    const body = new ReadableStream({
      async start(stream) {
        stream.enqueue(Buffer.from(text.slice(0, 1)))
        await gate.promise
        stream.enqueue(Buffer.from(text.slice(1)))
        stream.close()
      },
    })
    return { body, go: gate.resolve }
  }

  const generate = (key: string, fileName: string) =>
    post(key, '/gemini/v1beta/models/gemini-1:batchGenerateContent', { batch: { inputConfig: { fileName } } })

  it('is made where all that its lines name is the caller’s, in however many parts it came', async () => {
    const own = await uploadParts(keys.owner, 'about us', 1)
    for (const count of [1, 2, 5]) {
      const file = await uploadParts(keys.owner, write(request({ model: 'models/gemini-1' }), using(own)), count)
      expect(await generate(keys.owner, file)).toMatchObject({ outcome: 200, sent: 1 })
    }
  })

  it.each(['upload, finalize', 'Upload, Finalize'])(
    'is refused where another call (%s) sent its last part as well, and the provider took that one',
    async (command) => {
      const { name, here } = await beginUpload(keys.owner)
      const body = JSON.stringify({ file: { name, uri: `https://x/v1beta/${name}` } })
      const headers = { 'x-goog-upload-command': 'upload, finalize', 'x-goog-upload-offset': '0' }
      const checked = inTwo(write(request()))
      const seen = upstream.arrivals.length
      const first = fetch(here, { method: 'POST', headers, body: checked.body, duplex: 'half' } as RequestInit)
      // It has been taken for the one that goes on with the upload when the next comes.
      await new Promise((resolve) => setTimeout(resolve, 300))
      upstream.answer = () => ({ body, cut: 3 })
      const other = write(request({ model: 'models/gemini-2' }))
      const asOther = { ...headers, 'x-goog-upload-command': command }
      expect((await fetch(here, { method: 'POST', headers: asOther, body: other })).status).toBe(502)
      expect(upstream.arrivals.length).toBe(seen + 1)
      // A provider may answer whoever comes with the file that there is.
      upstream.answer = () => ({ body })
      checked.go()
      expect((await first).status).toBe(200)
      expect(await generate(keys.owner, name)).toMatchObject({ outcome: 'invalid_request', sent: 0 })
    },
  )

  it('is made where a part was refused by a limit first, and came again', async () => {
    await gateway.admin.policies.add({ name: 'one-by-one', concurrency: 1 })
    const { key } = await gateway.createKey('one-by-one', { policy: 'one-by-one' })
    const { name, here } = await beginUpload(key)
    upstream.answer = ({ body }) => ({
      body: body.endsWith('\n') ? JSON.stringify({ file: { name, uri: `https://x/v1beta/${name}` } }) : '{}',
    })
    const bytes = Buffer.from(write(request()))
    const send = async (from: number, to: number, command: string) => {
      const headers = { 'x-goog-upload-command': command, 'x-goog-upload-offset': `${from}` }
      return (await fetch(here, { method: 'POST', headers, body: bytes.subarray(from, to) })).status
    }
    for (const [from, to, command] of [
      [0, 10, 'upload'],
      [10, bytes.length, 'upload, finalize'],
    ] as const) {
      const { body, go } = inTwo('busy')
      const url = `${gateway.baseUrl}/v1/gemini/upload/v1beta/files`
      const headers = { 'x-goog-api-key': key, 'x-goog-upload-protocol': 'raw', 'content-type': 'text/plain' }
      const busy = fetch(url, { method: 'POST', headers, body, duplex: 'half' } as RequestInit)
      await new Promise((resolve) => setTimeout(resolve, 300))
      expect(await send(from, to, command)).toBe(429)
      go()
      await (await busy).text()
      expect(await send(from, to, command)).toBe(200)
    }
    expect(await generate(key, name)).toMatchObject({ outcome: 200 })
  })

  it('is refused where a line names another project’s file or another model, or a part was left out', async () => {
    const foreign = await uploadParts(keys.other, 'theirs', 1)
    const stealing = await uploadParts(keys.owner, write(request(), using(foreign)), 3)
    expect(await generate(keys.owner, stealing)).toMatchObject({ outcome: 'object_not_found', sent: 0 })
    const elsewhere = await uploadParts(keys.owner, write(request({ model: 'models/gemini-2' })))
    expect(await generate(keys.owner, elsewhere)).toMatchObject({ outcome: 'invalid_request', sent: 0 })
    const holed = await uploadParts(keys.owner, write(request(), request()), 3, 1)
    expect(await generate(keys.owner, holed)).toMatchObject({
      outcome: 'invalid_request',
      sent: 0,
      text: expect.stringMatching(
        /as one resumable upload .*all come to one node, where nodes of a cluster do not share records/,
      ),
    })
  })
})
