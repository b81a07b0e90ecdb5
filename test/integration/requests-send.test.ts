import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SentEvent } from '../../src/admin/contract/requests/send.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'

describe('a request sent as a key', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway()
    await gateway.admin.providers.add({ name: 'demo', kind: 'demo' })
    await gateway.addRoute('demo', ['demo'])
    await gateway.createKey('ci')
  })
  afterAll(() => gateway?.stop())

  async function send(more: Partial<Parameters<TestGateway['admin']['requests']['send']>[0]>): Promise<SentEvent[]> {
    const events: SentEvent[] = []
    const sent = await gateway.admin.requests.send({ model: 'demo', message: 'Tell nobody.', ...more })
    for await (const event of sent) events.push(event)
    return events
  }
  const textOf = (events: readonly SentEvent[]) => events.map(({ text }) => text ?? '').join('')
  const headOf = (events: readonly SentEvent[]) => {
    const [first] = events
    if (first?.kind !== 'begin') throw new Error('the first event is no head')
    return first
  }

  it('streams its answer, and counts as that key, which gets nothing new', async () => {
    const events = await send({ key: 'ci' })
    const head = headOf(events)
    expect(head).toMatchObject({ status: 200, lane: 'openai', path: '/v1/chat/completions' })
    expect(events.filter(({ kind }) => kind === 'part').length).toBeGreaterThan(2)
    expect(textOf(events)).toContain('Tell nobody.')
    expect(events.at(-1)).toMatchObject({ kind: 'end', error: null })
    expect(await gateway.record(head.request_id)).toMatchObject({
      status: 200,
      project: 'default',
      environment: 'production',
      key: { name: 'ci' },
    })
    expect(await gateway.admin.keys.list({ all: true })).toHaveLength(1)
  })

  it('asks each lane in its own format, whole where that is wanted', async () => {
    for (const lane of ['openai', 'anthropic', 'gemini'] as const) {
      const events = await send({ lane, whole: true })
      expect(headOf(events).lane).toBe(lane)
      expect(events).toHaveLength(3)
      expect(textOf(events), lane).toContain('Tell nobody.')
    }
  })

  it('is audited without what was asked', async () => {
    await send({ key: 'ci' })
    const [line] = await gateway.admin.audit.list({ operation: 'requests.send', limit: 1 })
    expect(line).toMatchObject({ resource: { kind: 'key', name: 'ci' }, after: { model: 'demo', lane: 'openai' } })
    expect(JSON.stringify(line)).not.toContain('Tell nobody')
  })

  it('is held to the policies of the key, and to nothing that is not JSON', async () => {
    await gateway.admin.policies.add({ name: 'no-demo', denyModels: ['demo'], attach: ['key:ci'] })
    const refused = await send({ key: 'ci' })
    expect(headOf(refused).status).toBe(403)
    expect(JSON.stringify(refused)).toContain('policy_denied')
    expect(headOf(await send({})).status).toBe(200)
    await expect(send({ body: '{' })).rejects.toMatchObject({ code: 'invalid' })
    await expect(send({ message: undefined })).rejects.toMatchObject({ code: 'invalid' })
  })
})
