import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Bodies } from '../../src/admin/contract/requests/bodies.ts'
import type { ReplayedEvent } from '../../src/admin/contract/requests/request-replay.ts'
import { laneCalls } from '../support/lane-calls.ts'
import { type RawAnswer, send } from '../support/raw-http.ts'
import { mintCredential, type Stage, setStage } from '../support/stage.ts'

let stage: Stage
/** By what a policy has of it kept. */
let keys: Record<'full' | 'redacted' | 'none', string>
const said = 'Nobody-but-admins-reads-this'
const email = 'jane.doe@example.com'
const bodyBytes = 1024 * 1024

beforeAll(async () => {
  stage = await setStage()
  const { admin } = stage.gateway
  const make = async (capture: 'full' | 'redacted' | 'none') => {
    const { key } = await stage.gateway.createKey(capture)
    await admin.policies.add({ name: capture, capture, attach: [`key:${capture}`] })
    return key
  }
  keys = { full: await make('full'), redacted: await make('redacted'), none: await make('none') }
})
afterAll(() => stage?.close())

async function post(key: string, path: string, body: string | Buffer, type = 'application/json'): Promise<RawAnswer> {
  const headers: [string, string][] = [
    ['authorization', `Bearer ${key}`],
    ['content-type', type],
    ...(path.startsWith('/v1/anthropic') ? [['anthropic-version', '2023-06-01'] as [string, string]] : []),
  ]
  return send(stage.gateway.baseUrl + path, { headers, body })
}

async function bodiesOf(answer: RawAnswer): Promise<Bodies | null> {
  const id = answer.headers.get('x-sp-request-id') ?? ''
  await stage.gateway.record(id)
  return (await stage.gateway.admin.requests.show({ id, bodies: true })).bodies ?? null
}

async function chat(key: string, prompt: string, more: Record<string, unknown> = {}): Promise<RawAnswer> {
  const { path, body } = laneCalls[0]!.call(stage.models.openai, { prompt, more })
  return post(key, path, body)
}

async function replay(input: Parameters<typeof stage.gateway.admin.requests.replay>[0]): Promise<ReplayedEvent[]> {
  const events: ReplayedEvent[] = []
  for await (const event of await stage.gateway.admin.requests.replay(input)) events.push(event)
  return events
}

describe('what is kept of a request', () => {
  it.each(
    laneCalls.flatMap((lane) =>
      [false, true].map((stream) => [lane.lane, stream ? 'streamed' : 'whole', lane, stream] as const),
    ),
  )('is what was sent and what came, of %s %s', async (_, __, lane, stream) => {
    const { path, body } = lane.call(stage.models[lane.lane], { stream, prompt: said })
    const answer = await post(keys.full, path, body)
    const bodies = await bodiesOf(answer)
    expect(bodies?.request).toMatchObject({ method: 'POST', path, content: body, bytes: body.length, masked: false })
    const version = lane.lane === 'anthropic' ? '2023-06-01' : undefined
    expect(bodies?.request?.headers['anthropic-version']).toBe(version)
    expect(bodies?.answer).toMatchObject({
      content: answer.body.toString(),
      bytes: answer.body.length,
      truncated: false,
    })
  })

  it('is nothing without a policy, and where one of several says so', async () => {
    expect(await bodiesOf(await chat(stage.key, said))).toBeNull()
    const answer = await chat(keys.none, said)
    expect(await bodiesOf(answer)).toBeNull()
    const { policy_signals } = await stage.gateway.record(answer.headers.get('x-sp-request-id') ?? '')
    expect(policy_signals.at(-1)).toMatchObject({ rule: 'capture', text: 'The policy none keeps no bodies.' })
  })

  it('is also what the gateway itself refused, and why', async () => {
    const broken = await post(keys.full, '/v1/chat/completions', '{"model": "gpt-4o-mini", ')
    expect(broken.status).toBe(400)
    const bodies = await bodiesOf(broken)
    expect(bodies?.request?.content).toBe('{"model": "gpt-4o-mini", ')
    expect(bodies?.answer?.content).toBe(broken.body.toString())
  })

  it('is masked where it is to be redacted, in the request and over the events of the answer', async () => {
    const pieces = ['It is jane', '.doe@exam', 'ple.com, she', ' says']
    const events = pieces.map(
      (content) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`,
    )
    stage.mocks.openai.next({ events: [...events, 'data: [DONE]\n\n'] })
    const { path, body } = laneCalls[0]!.call(stage.models.openai, { stream: true, prompt: `Who is ${email}?` })
    const answer = await post(keys.redacted, path, body)
    const bodies = await bodiesOf(answer)
    expect(bodies).toMatchObject({ capture: 'redacted', request: { masked: true }, answer: { masked: true } })
    expect(bodies?.request?.content).toBe(body.replace(email, '[email address]'))
    expect(bodies?.answer?.content).toContain('It is [email address]')
    expect(bodies?.answer?.content).not.toMatch(/jane|exam/)
    expect(answer.body.toString()).toContain('.doe@exam')
  })

  it.each(['full', 'redacted'] as const)('never holds a key or a credential, kept %s', async (mode) => {
    const credential = [...stage.mocks.openai.credentials].join()
    stage.mocks.openai.next({ body: JSON.stringify({ id: 'x', choices: [], echo: [keys[mode], credential] }) })
    const bodies = await bodiesOf(await chat(keys[mode], `my key is ${keys[mode]}`))
    expect(bodies?.request?.content).toContain('my key is [gateway key]')
    expect(bodies?.answer?.content).toMatch(/"echo":\["\[gateway key\]","\[(?:credential|provider key)\]"\]/)
    expect(JSON.stringify(bodies)).not.toContain(keys[mode])
  })

  it('has a query without the key that stood in it', async () => {
    const { path, body } = laneCalls[2]!.call(stage.models.gemini, { stream: true })
    const answer = await send(`${stage.gateway.baseUrl}${path}&key=${keys.full}`, {
      headers: [['content-type', 'application/json']],
      body,
    })
    expect((await bodiesOf(answer))?.request?.path).toBe(path)
  })

  it('is the first MiB of what is larger, with the whole size', async () => {
    const text = 'word '.repeat(500_000)
    stage.mocks.openai.next({ body: JSON.stringify({ id: 'x', choices: [], text }) })
    const answer = await chat(keys.full, text)
    const bodies = await bodiesOf(answer)
    for (const body of [bodies?.request, bodies?.answer]) {
      expect(body).toMatchObject({ truncated: true })
      expect(body?.bytes).toBeGreaterThan(2_500_000)
      expect(body?.content).toHaveLength(bodyBytes)
    }
    expect(answer.body.toString().startsWith(bodies?.answer?.content ?? 'nothing')).toBe(true)
  })

  it('is type and size alone of what is no text', async () => {
    stage.mocks.openai.next({ body: Buffer.alloc(5000, 1), headers: { 'content-type': 'audio/mpeg' } })
    const speech = await post(
      keys.full,
      '/v1/audio/speech',
      JSON.stringify({ model: stage.models.openai, input: 'x', voice: 'y' }),
    )
    const { request, answer } = (await bodiesOf(speech)) ?? {}
    expect(answer).toEqual({ type: 'audio/mpeg', bytes: 5000, truncated: false, masked: false, content: null })
    expect(request?.content).toContain('"voice"')
    const form = '--b\r\ncontent-disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n--b--\r\n'
    const upload = await post(keys.full, '/v1/audio/transcriptions', form, 'multipart/form-data; boundary=b')
    expect((await bodiesOf(upload))?.request).toMatchObject({
      bytes: form.length,
      content: null,
      type: expect.stringMatching(/^multipart/),
    })
  })

  it('stands in clear in no file', async () => {
    const files = await readdir(stage.gateway.dataDirectory, { recursive: true, withFileTypes: true })
    const seen = files.filter((entry) => entry.isFile())
    expect(seen.some(({ name }) => name.endsWith('.journal'))).toBe(true)
    for (const { parentPath, name } of seen) {
      const bytes = await readFile(join(parentPath, name))
      for (const text of [said, email, 'word word', keys.full, keys.redacted])
        expect([name, text, bytes.includes(text)]).toEqual([name, text, false])
    }
  })
})

describe('a captured request', () => {
  it.each(laneCalls)('is sent again as it was, on the lane $lane', async (lane) => {
    const { path, body } = lane.call(stage.models[lane.lane], { stream: true, prompt: said })
    const first = await post(keys.full, path, body)
    const id = first.headers.get('x-sp-request-id') ?? ''
    const events = await replay({ id })
    const seen = stage.mocks[lane.lane].requests.at(-1)
    expect(seen?.body.toString()).toBe(stage.mocks[lane.lane].requests.at(-2)?.body.toString())
    const compared = events.at(-1)
    if (compared?.kind !== 'compared') throw new Error('they were not compared')
    expect(compared.before).toMatchObject({ request_id: id, status: 200, answer: compared.after.answer })
    expect(compared.after.answer).not.toBe('')
    expect(compared.text).toContain('The texts are the same.')
    expect(await stage.gateway.record(compared.after.request_id)).toMatchObject({ key: { name: 'full' }, status: 200 })
    stage.assertClean()
  })

  it('is sent with another key and model where that is wanted', async () => {
    await stage.gateway.addRoute('other', [`openai:${stage.models.openai}`])
    const id = (await chat(keys.full, said)).headers.get('x-sp-request-id') ?? ''
    const events = await replay({ id, key: 'redacted', model: 'other' })
    expect(events.at(-1)).toMatchObject({
      kind: 'compared',
      before: { model: stage.models.openai },
      after: { model: 'other' },
    })
    const begin = events.find(({ kind }) => kind === 'begin')
    expect(await stage.gateway.record(begin?.kind === 'begin' ? begin.request_id : '')).toMatchObject({
      key: { name: 'redacted' },
    })
  })

  it('is sent to another provider, whatever the route says, with the difference told', async () => {
    await stage.gateway.admin.providers.add({
      name: 'second',
      kind: 'openai-compatible',
      baseUrl: stage.mocks.openai.baseUrl,
      credential: [...stage.mocks.openai.credentials][0] ?? '',
    })
    const id = (await chat(keys.full, said)).headers.get('x-sp-request-id') ?? ''
    const events = await replay({ id, provider: 'second', model: 'not-routed' })
    expect(stage.mocks.openai.requests.at(-1)?.body.toString()).toContain('"model":"not-routed"')
    const compared = events.at(-1)
    if (compared?.kind !== 'compared') throw new Error('they were not compared')
    expect(compared).toMatchObject({
      before: { provider: 'openai', model: stage.models.openai },
      after: { provider: 'second', model: 'not-routed', upstream_model: 'not-routed', status: 200 },
      difference: { input: 0, output: 0, duration_ms: expect.any(Number), first_byte_ms: expect.any(Number) },
    })
    const { before, after, difference } = compared
    expect(difference.duration_ms).toBeCloseTo((after.duration_ms ?? 0) - (before.duration_ms ?? 0), 6)
    expect(
      difference.answer
        ?.filter(({ kind }) => kind !== 'added')
        .map(({ text }) => text)
        .join(''),
    ).toBe(before.answer)
    const { routing_signals } = await stage.gateway.record(after.request_id)
    expect(routing_signals.find(({ rule }) => rule === 'provider.choice')?.text).toContain('second')
    const translated = (await replay({ id, provider: 'anthropic', model: 'claude-opus-4-6' })).at(-1)
    expect(translated).toMatchObject({ kind: 'compared', after: { provider: 'anthropic', status: 200 } })
    await expect(replay({ id, provider: 'nowhere' })).rejects.toMatchObject({ code: 'not_found' })
    await stage.gateway.admin.providers.remove({ name: 'second' })
  })

  it.each([
    ['redacted', () => chat(keys.redacted, said), /it was stored redacted/],
    ['none', () => chat(keys.none, said), /keeps no bodies/],
    ['truncated', () => chat(keys.full, 'word '.repeat(300_000)), /only its beginning was stored/],
    [
      'with a key in it',
      () => chat(keys.full, `take ${mintCredential('openai')} or ${keys.full}`),
      /it contained a key/,
    ],
  ])('is not sent again when it was kept %s', async (_, ask, reason) => {
    const id = (await ask()).headers.get('x-sp-request-id') ?? ''
    const before = stage.mocks.openai.requests.length
    await expect(replay({ id })).rejects.toMatchObject({ code: 'refused', message: expect.stringMatching(reason) })
    expect(stage.mocks.openai.requests).toHaveLength(before)
  })

  it('leaves a line for each reading and each sending', async () => {
    const id = (await chat(keys.full, said)).headers.get('x-sp-request-id') ?? ''
    await stage.gateway.admin.requests.show({ id })
    await stage.gateway.admin.requests.show({ id, bodies: true })
    await replay({ id })
    const lines = (await stage.gateway.admin.audit.list({ limit: 9 }))
      .filter(({ operation }) => operation.startsWith('requests.'))
      .map(({ operation, after }) => [operation, after])
    expect(lines[0]).toMatchObject(['requests.replay', { request: id }])
    expect(lines[1]).toMatchObject(['requests.show', { bodies: 'full' }])
    expect(lines[2]?.[0]).toBe('requests.replay')
    expect(JSON.stringify(lines)).not.toContain(said)
  })
})
