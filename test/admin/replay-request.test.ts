import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ReplayedEvent } from '../../src/admin/contract/requests/request-replay.ts'
import type { SentCall, SentPiece } from '../../src/admin/handlers/context.ts'
import { withModel } from '../../src/admin/handlers/requests/replay-request.ts'
import type { BodyEntry } from '../../src/core/journal-format.ts'
import type { RequestRecord } from '../../src/core/record.ts'
import { bodyKeyFor } from '../../src/daemon/body-key.ts'
import { samplePolicy } from '../store/support.ts'
import { bodyEntry } from '../support/captured.ts'
import { JournalWriter } from '../support/journal-writer.ts'
import { sampleRecord, settled } from '../support/sample-record.ts'
import { refusal, startTestGateway, type TestGateway } from './gateway.ts'

const path = '/v1/chat/completions'

describe('a request that is sent again with another model', () => {
  it('keeps every other byte, numbers beyond what JavaScript holds included', () => {
    const body = '{ "seed": 12345678901234567890, "model" : "gpt",\n"top_p":1.0, "metadata":{"model":"mine"} }'
    expect(withModel({ path, body }, 'other "one"').body).toBe(
      '{ "seed": 12345678901234567890, "model" : "other \\"one\\"",\n"top_p":1.0, "metadata":{"model":"mine"} }',
    )
    expect(withModel({ path, body }, undefined)).toEqual({ path, body })
  })

  it('is read as before, but for the model', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), (members, model) => {
        const body = JSON.stringify({ ...members, model: 'gpt' })
        const again: unknown = JSON.parse(withModel({ path, body }, model).body)
        expect(again).toEqual({ ...(JSON.parse(body) as object), model })
      }),
    )
  })

  it('has it in the path on the Gemini lane', () => {
    const call = { path: '/v1/gemini/v1beta/models/gemini-2.5:streamGenerateContent?alt=sse', body: '{"contents":[]}' }
    expect(withModel(call, 'a/b')).toEqual({
      path: '/v1/gemini/v1beta/models/a%2Fb:streamGenerateContent?alt=sse',
      body: call.body,
    })
  })

  it.each(['{"input":1}', '[1]', 'null', '{"model":', 'name=value', ''])('is refused where %s names none', (body) => {
    expect(() => withModel({ path, body }, 'other')).toThrow('The request names no model, so it cannot be replaced.')
  })
})

const said = '{"model":"gpt-4o-mini","messages":[]}'
const answerOf = (content: string) => JSON.stringify({ choices: [{ message: { content } }] })
let segments = 0

function journal({ databasePath }: TestGateway): JournalWriter {
  const place = { boot: 'live', thread: 0, sequence: segments++ }
  return new JournalWriter(join(dirname(databasePath), 'journal'), place)
}

interface Kept {
  record?: Partial<RequestRecord>
  request?: Partial<BodyEntry>
  content?: string | null
  method?: string
  /** null: it was not kept. */
  answer?: string | null
}

/** A gateway with the key `ci`, and a request of it that was kept with its bodies. */
async function startWith({ record: change, request, content = said, method, answer = answerOf('Hello.') }: Kept = {}) {
  const gateway = await startTestGateway()
  const { key: made } = await gateway.client.keys.create({ name: 'ci' })
  const { store, keyring } = gateway.parts
  const bodyKey = await bodyKeyFor(store, keyring, [samplePolicy({ capture: 'full' })], null)
  if (made === undefined || bodyKey === null) throw new Error('no key was made')
  const [key] = await store.keys.list(null, null)
  const record = sampleRecord({ key: { id: key?.id ?? '', name: 'ci' }, ...change })
  journal(gateway).write(
    bodyEntry(bodyKey, record.id, 'request', content, request, method),
    bodyEntry(bodyKey, record.id, 'answer', answer),
    settled(record),
  )
  return { gateway, record }
}

/** The data plane, which answers each call with that text and leaves a record of it. */
function answerWith(gateway: TestGateway, text: string, record: RequestRecord | null): SentCall[] {
  const calls: SentCall[] = []
  gateway.parts.runtime.send = async function* (call): AsyncIterable<SentPiece> {
    calls.push(call)
    if (record === null) return
    journal(gateway).write(settled(record))
    yield { kind: 'head', status: 200, headers: { 'x-sp-request-id': record.id } }
    yield { kind: 'data', bytes: Buffer.from(answerOf(text)) }
  }
  return calls
}

async function replay({ client }: TestGateway, input: Parameters<TestGateway['client']['requests']['replay']>[0]) {
  const events: ReplayedEvent[] = []
  for await (const event of await client.requests.replay(input)) events.push(event)
  return events
}

describe('a request that is sent again', () => {
  it('goes out as it was kept, and its answer is set beside the first', async () => {
    const { gateway, record } = await startWith()
    const again = sampleRecord({ duration_ms: 130, cost: null })
    const calls = answerWith(gateway, 'Hello again.', again)
    const events = await replay(gateway, { id: record.id })
    expect(calls).toMatchObject([
      { key: { name: 'ci' }, path, body: said, headers: {}, agent: 'spgw requests replay (cli)' },
    ])
    expect(calls[0]).not.toHaveProperty('onlyProviderId')
    expect(events.map(({ kind }) => kind)).toEqual(['begin', 'part', 'end', 'compared'])
    const used = { input: 10, output: 5 }
    expect(events.at(-1)).toMatchObject({
      before: { request_id: record.id, answer: 'Hello.', duration_ms: 100, cost_usd: 0.001, ...used },
      after: { request_id: again.id, answer: 'Hello again.', duration_ms: 130, cost_usd: null, ...used },
      difference: { duration_ms: 30, cost_usd: null, input: 0 },
    })
    const [line] = await gateway.client.audit.list({ operation: 'requests.replay', limit: 1 })
    expect(line?.after).toEqual({ request: record.id, model: 'gpt-4o-mini', key: 'ci' })
    expect(line?.resource).toMatchObject({ kind: 'key', name: 'ci' })
  })

  it('is compared as far as both are known', async () => {
    const { gateway, record } = await startWith({ answer: null })
    answerWith(gateway, 'Hello again.', sampleRecord({ tokens: null, cost: null }))
    expect((await replay(gateway, { id: record.id })).at(-1)).toMatchObject({
      before: { answer: null, input: 10, output: 5 },
      after: { answer: 'Hello again.', input: null, output: null, cost_usd: null },
      difference: { answer: null, input: null, output: null, cost_usd: null },
      text: expect.stringMatching(/The first answer was not stored\.$/),
    })
  })

  it('goes to another provider with another model and key where that is wanted, which the audit tells', async () => {
    const { gateway, record } = await startWith()
    await gateway.client.keys.create({ name: 'second' })
    const { id } = await gateway.client.providers.add({ name: 'azure', kind: 'demo' })
    const calls = answerWith(gateway, 'Hello.', sampleRecord())
    await replay(gateway, { id: record.id, key: 'second', model: 'other', provider: 'azure' })
    expect(calls).toMatchObject([
      { key: { name: 'second' }, body: said.replace('gpt-4o-mini', 'other'), onlyProviderId: id },
    ])
    const [line] = await gateway.client.audit.list({ operation: 'requests.replay', limit: 1 })
    expect(line?.after).toEqual({ request: record.id, model: 'other', key: 'second', provider: 'azure' })
  })

  it('shows why it failed in place of a text', async () => {
    const { gateway, record } = await startWith()
    const error = { code: 'policy_denied', origin: 'policy', message: 'It has no price.' } as const
    answerWith(gateway, '', sampleRecord({ status: 403, error, tokens: null, cost: null }))
    expect((await replay(gateway, { id: record.id })).at(-1)).toMatchObject({
      before: { answer: 'Hello.' },
      after: { answer: 'policy_denied: It has no price.' },
      text: expect.stringMatching(/The texts differ/),
    })
  })

  it('is compared with nothing where no answer began', async () => {
    const { gateway, record } = await startWith()
    answerWith(gateway, '', null)
    expect((await replay(gateway, { id: record.id })).map(({ kind }) => kind)).toEqual(['end'])
  })

  const like = `Send a similar one: spgw requests send "gpt-4o-mini" --body '…' --project default --environment production --key ci`
  it.each<[string, Kept, string, string]>([
    [
      'that calls no model',
      { method: 'GET' },
      ': it is a GET, which calls no model.',
      'Only requests with a body can be repeated.',
    ],
    [
      'that was stored redacted',
      { request: { mode: 'redacted' } },
      ': it was stored redacted.',
      'To store future requests: spgw policies add NAME --capture full --attach key:default/production/ci',
    ],
    ['that was cut', { request: { truncated: true } }, ': only its beginning was stored.', like],
    ['that held a key', { request: { masked: true } }, ': it contained a key, which was not stored.', like],
    [
      'that was an upload',
      { content: null, request: { type: 'audio/wav' } },
      ': of a body of type audio/wav only the size was stored.',
      like,
    ],
    [
      'of no type that is known',
      { content: null, request: { type: null }, record: { model: null } },
      ': of a body of type unknown only the size was stored.',
      like.replace('gpt-4o-mini', 'MODEL'),
    ],
    [
      'that nobody could be told to have sent',
      { record: { key: null }, request: { truncated: true } },
      ': only its beginning was stored.',
      like.replace(/ --project.*/, ''),
    ],
  ])('is none %s, and says what to do instead', async (_, kept, reason, hint) => {
    const { gateway, record } = await startWith(kept)
    const calls = answerWith(gateway, '', null)
    expect(await refusal(replay(gateway, { id: record.id }))).toEqual({
      code: 'refused',
      message: `${record.id} cannot be sent again${reason}`,
      hint,
    })
    expect(calls).toEqual([])
  })

  it('is sent as another key where its own is not known', async () => {
    const { gateway, record } = await startWith({ record: { key: null } })
    const calls = answerWith(gateway, '', null)
    expect(await refusal(replay(gateway, { id: record.id }))).toMatchObject({
      message: 'The record names no key to send it as.',
      hint: 'Only requests with a valid key can be repeated.',
    })
    await replay(gateway, { id: record.id, key: 'ci' })
    expect(calls).toMatchObject([{ key: { name: 'ci' } }])
  })
})
