import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Stage, setStage } from '../support/stage.ts'

let stage: Stage
const keys = { owner: '', beside: '', other: '', poor: '' }
const policy = 'parts'

beforeAll(async () => {
  stage = await setStage()
  const { gateway } = stage
  const { admin } = gateway
  await admin.projects.add({ name: 'elsewhere' })
  await admin.environments.add({ name: 'production', project: 'elsewhere' })
  keys.owner = (await gateway.createKey('owner')).key
  keys.beside = (await gateway.createKey('beside')).key
  keys.poor = (await gateway.createKey('poor')).key
  keys.other = (await gateway.createKey('other', { project: 'elsewhere' })).key
  const limits = { rpm: 10_000, tpm: 100_000, concurrency: 4, budgetUsdMonth: 1, budgetTokensDay: 1000 }
  await admin.policies.add({ name: policy, ...limits, maxBody: '4KB', attach: ['workspace'] })
  await admin.policies.add({ name: 'poor', budgetUsdDay: 0, attach: ['key:poor'] })
})
afterAll(() => stage.close())

interface Shown {
  id?: string
  status?: string
  file?: { id: string; bytes: number }
  error?: { code: string | null; type: string; message: string; param?: string | null }
}

async function send(key: string, path: string, body: object | FormData) {
  const isForm = body instanceof FormData
  const headers = { authorization: `Bearer ${key}`, ...(isForm ? {} : { 'content-type': 'application/json' }) }
  const sent = stage.mocks.openai.requests.length
  const init = { method: 'POST', headers, body: isForm ? body : JSON.stringify(body) }
  const response = await fetch(`${stage.gateway.baseUrl}/v1${path}`, init)
  const shown: Shown = JSON.parse(await response.text())
  const { status } = response
  return {
    ...{ status, shown, code: response.headers.get('x-sp-error') },
    ...{ id: response.headers.get('x-sp-request-id') ?? '', sent: stage.mocks.openai.requests.length - sent },
  }
}

async function begin(key: string, bytes: number, purpose = 'user_data'): Promise<string> {
  const about = { bytes, filename: 'a.jsonl', mime_type: 'application/jsonl', purpose }
  const { status, shown } = await send(key, '/uploads', about)
  expect(status).toBe(200)
  return shown.id ?? ''
}

function addPart(key: string, upload: string, text: string) {
  const form = new FormData()
  form.set('data', new File([text], 'blob'))
  return send(key, `/uploads/${upload}/parts`, form)
}

const complete = (key: string, upload: string, part_ids: readonly (string | undefined)[]) =>
  send(key, `/uploads/${upload}/complete`, { part_ids })
const cancel = (key: string, upload: string) => send(key, `/uploads/${upload}/cancel`, {})

async function read(key: string, file: string) {
  const headers = { authorization: `Bearer ${key}` }
  const response = await fetch(`${stage.gateway.baseUrl}/v1/files/${file}/content`, { headers })
  return { code: response.headers.get('x-sp-error'), text: await response.text() }
}

/** Nothing of an upload costs, and nothing is held when it is over. */
async function expectNothingHeld(): Promise<void> {
  await stage.gateway.admin.requests.list({ limit: 1 })
  const usage = async () => {
    const all = await stage.gateway.admin.policies.usage({})
    const running = all.flatMap(({ limits }) => limits.filter(({ kind }) => kind === 'concurrency'))
    const amounts = all.flatMap(({ periods }) => periods.map(({ used, held }) => [used, held]))
    return [...running.map(({ used }) => used), ...amounts.flat()].filter((amount) => amount !== 0)
  }
  await expect.poll(usage).toEqual([])
}

describe('an upload in parts', () => {
  it('makes a file of the order that its end names, which belongs to whoever began it', async () => {
    const upload = await begin(keys.owner, 6)
    const parts = []
    for (const text of ['one', 'two']) parts.push((await addPart(keys.owner, upload, text)).shown.id)
    const { status, shown } = await complete(keys.owner, upload, parts.reverse())
    expect([status, shown.file?.bytes]).toEqual([200, 6])
    const file = shown.file?.id ?? ''
    expect(await read(keys.owner, file)).toEqual({ code: null, text: 'twoone' })
    expect((await read(keys.other, file)).code).toBe('object_not_found')
    await expectNothingHeld()
  })

  it('ends once: what comes later is the provider’s to refuse, and makes no file of it', async () => {
    const upload = await begin(keys.owner, 3)
    const part = (await addPart(keys.owner, upload, 'one')).shown.id
    const first = await complete(keys.owner, upload, [part])
    expect(first.status).toBe(200)
    const later = [
      await complete(keys.owner, upload, [part]),
      await cancel(keys.owner, upload),
      await addPart(keys.owner, upload, 'two'),
    ]
    for (const { status, shown, code } of later) {
      expect([status, code]).toEqual([400, 'provider_error'])
      expect(shown.error?.message).toContain('is not pending')
    }
    expect((await read(keys.owner, first.shown.file?.id ?? '')).text).toBe('one')
    await expectNothingHeld()
  })

  it('that has expired or was cancelled is the provider’s to refuse', async () => {
    const [credential = ''] = stage.mocks.openai.credentials
    for (const status of ['expired', 'cancelled']) {
      const upload = await begin(keys.owner, 3)
      const part = (await addPart(keys.owner, upload, 'one')).shown.id
      if (status === 'cancelled') expect((await cancel(keys.owner, upload)).shown.status).toBe(status)
      else Object.assign(stage.mocks.openai.objects.of(credential).find('upload', upload) ?? {}, { status })
      for (const late of [await addPart(keys.owner, upload, 'two'), await complete(keys.owner, upload, [part])])
        expect([late.status, late.sent]).toEqual([400, 1])
    }
    await expectNothingHeld()
  })

  it('is nobody’s of another project, at each of its calls, and nothing is sent', async () => {
    const upload = await begin(keys.owner, 3)
    const part = (await addPart(keys.owner, upload, 'one')).shown.id
    const tried = [
      await addPart(keys.other, upload, 'two'),
      await complete(keys.other, upload, [part]),
      await cancel(keys.other, upload),
    ]
    for (const { code, sent, status, shown } of tried) {
      expect([status, code, sent]).toEqual([404, 'object_not_found', 0])
      expect(shown.error).toMatchObject({ message: expect.stringContaining(upload), type: 'invalid_request_error' })
    }
    // Its parts make no file of another project either.
    const foreign = await begin(keys.other, 3)
    expect((await complete(keys.other, foreign, [part])).status).toBe(400)
    expect((await complete(keys.beside, upload, [part])).status).toBe(200)
    await expectNothingHeld()
  })

  it('has parts no larger than its policy allows, by what is declared and by what comes', async () => {
    const upload = await begin(keys.owner, 5000)
    const { status, code, shown } = await addPart(keys.owner, upload, 'x'.repeat(5000))
    expect([status, code]).toEqual([413, 'request_too_large'])
    expect(shown.error?.message).toContain('4')
    const boundary = 'b'
    const chunked = new ReadableStream({
      start(controller) {
        controller.enqueue(
          Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="data"; filename="a"\r\n\r\n`),
        )
        for (let time = 0; time < 5; time++) controller.enqueue(Buffer.alloc(1024, 'x'))
        controller.enqueue(Buffer.from(`\r\n--${boundary}--\r\n`))
        controller.close()
      },
    })
    const response = await fetch(`${stage.gateway.baseUrl}/v1/uploads/${upload}/parts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${keys.owner}`, 'content-type': `multipart/form-data; boundary=${boundary}` },
      body: chunked,
      duplex: 'half',
    })
    expect([response.status, response.headers.get('x-sp-error')]).toEqual([413, 'request_too_large'])
    await response.text()
    expect((await cancel(keys.owner, upload)).status).toBe(200)
    await expectNothingHeld()
  })

  it('makes no input of a batch, however its purpose is written', async () => {
    const line = { custom_id: '1', method: 'POST', url: '/v1/chat/completions', body: { model: 'gpt-4o-mini' } }
    const text = JSON.stringify(line)
    const about = { bytes: text.length, filename: 'a.jsonl', mime_type: 'application/jsonl' }
    const headers = { authorization: `Bearer ${keys.owner}`, 'content-type': 'application/json' }
    const before = stage.mocks.openai.requests.length
    for (const purpose of ['"purpose":"batch"', '"purpose":"b\\u0061tch"', '"purp\\u006fse":"batch"']) {
      const body = `{${purpose},${JSON.stringify(about).slice(1)}`
      const response = await fetch(`${stage.gateway.baseUrl}/v1/uploads`, { method: 'POST', headers, body })
      expect([response.status, response.headers.get('x-sp-error')], purpose).toEqual([400, 'invalid_request'])
      await response.text()
    }
    expect(stage.mocks.openai.requests.length).toBe(before)
    const upload = await begin(keys.owner, text.length)
    const part = (await addPart(keys.owner, upload, text)).shown.id
    const { file } = (await complete(keys.owner, upload, [part])).shown
    const batch = { input_file_id: file?.id, endpoint: '/v1/chat/completions', completion_window: '24h' }
    const { status, code, sent, shown } = await send(keys.owner, '/batches', batch)
    expect([status, code, sent]).toEqual([400, 'invalid_request', 0])
    expect(shown.error?.message).toContain('not in parts (/v1/uploads)')
    await expectNothingHeld()
  })

  it('costs nothing, and passes where a budget is used up, as it costs nothing', async () => {
    const upload = await begin(keys.poor, 3)
    const part = await addPart(keys.poor, upload, 'one')
    const { status, id } = await complete(keys.poor, upload, [part.shown.id])
    expect(status).toBe(200)
    for (const each of [part.id, id])
      expect(await stage.gateway.record(each)).toMatchObject({ cost: null, tokens: null })
    await expectNothingHeld()
  })

  it('is held by nobody when its client leaves in the middle of a part', async () => {
    const upload = await begin(keys.owner, 3)
    const gone = new AbortController()
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(Buffer.from('--b\r\nContent-Disposition: form-data; name="data"; filename="a"\r\n\r\nx'))
      },
    })
    const leaving = fetch(`${stage.gateway.baseUrl}/v1/uploads/${upload}/parts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${keys.owner}`, 'content-type': 'multipart/form-data; boundary=b' },
      body,
      duplex: 'half',
      signal: gone.signal,
    }).catch(() => null)
    const running = async () =>
      (await stage.gateway.admin.policies.usage({ name: policy }))[0]?.limits.find(({ kind }) => kind === 'concurrency')
        ?.used
    await expect.poll(running).toBe(1)
    gone.abort()
    await leaving
    await expectNothingHeld()
  })
})
