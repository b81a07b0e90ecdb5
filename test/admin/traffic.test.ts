import { describe, expect, it } from 'vitest'
import { parseTarget } from '../../src/admin/handlers/routes/route-targets.ts'
import { newId } from '../../src/core/ids.ts'
import { StoreStopped } from '../../src/store/store-error.ts'
import { JournalWriter } from '../support/journal-writer.ts'
import { sampleRecord, settled } from '../support/sample-record.ts'
import { refusal, startTestGateway, type TestGateway } from './gateway.ts'

async function addProviders({ client }: TestGateway): Promise<void> {
  await client.providers.add({ name: 'openai', kind: 'openai', credential: 'sk-one-credential-0001' })
  await client.providers.add({ name: 'claude', kind: 'anthropic', credential: 'sk-two-credential-0002' })
}

describe('targets', () => {
  it.each([
    ['openai', { provider: 'openai', upstreamModel: null, weight: null, priority: null, format: null }],
    ['local:llama3:8b', { provider: 'local', upstreamModel: 'llama3:8b', weight: null, priority: null, format: null }],
    ['a:b,weight=3,priority=1', { provider: 'a', upstreamModel: 'b', weight: 3, priority: 1, format: null }],
    ['a,priority=2', { provider: 'a', upstreamModel: null, weight: null, priority: 2, format: null }],
    ['a:org/model,v2', { provider: 'a', upstreamModel: 'org/model,v2', weight: null, priority: null, format: null }],
  ])('reads %s', (text, target) => expect(parseTarget(text)).toEqual(target))

  it.each(['', ':m', 'a:', 'a,weight=x', 'a,cost=1'])('refuses %j', (text) => {
    expect(() => parseTarget(text)).toThrow(/not a target/)
  })
})

describe('routes', () => {
  it('are added, changed, switched and removed', async () => {
    const gateway = await startTestGateway()
    const { client } = gateway
    await addProviders(gateway)
    const added = await client.routes.add({ model: 'gpt-4o', provider: 'openai', upstreamModel: 'gpt-4o-mini' })
    expect(added).toMatchObject({
      model: 'gpt-4o',
      environment: 'production',
      enabled: true,
      strategy: 'priority',
      retries: 1,
      targets: [{ provider: 'openai', upstream_model: 'gpt-4o-mini', weight: 1, priority: 0 }],
    })
    const edited = await client.routes.edit({
      model: 'gpt-4o',
      targets: ['claude:opus', 'openai,priority=5'],
      fallbackOn: ['429,503', 'provider_timeout'],
      timeoutFirstByte: '20s',
    })
    expect(edited).toMatchObject({
      targets: [
        { provider: 'claude', priority: 0 },
        { provider: 'openai', priority: 5 },
      ],
      fallback_on: ['429', '503', 'provider_timeout'],
      timeouts: { first_byte_ms: 20_000 },
    })
    expect(await client.routes.disable({ model: 'gpt-4o' })).toMatchObject({ enabled: false })
    expect(await client.routes.enable({ model: added.id })).toMatchObject({ enabled: true })
    expect(await client.routes.remove({ model: 'gpt-4o' })).toMatchObject({ name: 'gpt-4o', removed: true })
    expect(await client.routes.list({})).toEqual([])
  })

  it('are refused when they cannot work', async () => {
    const gateway = await startTestGateway()
    const { client } = gateway
    await addProviders(gateway)
    await client.routes.add({ model: 'gpt-*', provider: 'openai', allEnvironments: true })
    const cases = [
      [{ model: 'gpt-*', provider: 'openai', allEnvironments: true }, 'conflict'],
      [{ model: '*-gpt', provider: 'openai', allEnvironments: true }, 'conflict'],
      [{ model: 'a*b*c', provider: 'openai' }, 'invalid'],
      [{ model: 'x' }, 'invalid'],
      [{ model: 'x', provider: 'openai', targets: ['openai'] }, 'invalid'],
      [{ model: 'x', upstreamModel: 'y' }, 'invalid'],
      [{ model: 'x', provider: 'nobody' }, 'not_found'],
      [{ model: 'x', provider: 'openai', fallbackOn: ['soon'] }, 'invalid'],
    ] as const
    for (const [input, code] of cases) {
      const given = { ...input, targets: 'targets' in input ? [...input.targets] : undefined }
      const fallbackOn = 'fallbackOn' in input ? [...input.fallbackOn] : undefined
      expect(await refusal(client.routes.add({ ...given, fallbackOn })), JSON.stringify(input)).toMatchObject({ code })
    }
    expect(await refusal(client.routes.show({ model: 'gpt-*' }))).toMatchObject({
      code: 'not_found',
      hint: expect.stringContaining('--all-environments'),
    })
    expect((await client.routes.list({})).map(({ model, environment }) => [model, environment])).toEqual([
      ['gpt-*', null],
    ])
  })

  it('are explained, sending nothing', async () => {
    const gateway = await startTestGateway()
    const { client } = gateway
    await addProviders(gateway)
    await client.routes.add({ model: 'gpt-4o', targets: ['claude', 'openai'] })
    await client.routes.add({ model: 'opus', provider: 'claude' })
    await client.policies.add({ name: 'no-gpt', denyModels: ['gpt-*'], attach: ['project:default'] })
    await client.keys.create({ name: 'ci' })
    expect(await client.routes.explain({ model: 'gpt-4o' })).toMatchObject({
      lane: 'openai',
      key: null,
      route: { model: 'gpt-4o', project: 'default', environment: 'production', strategy: 'priority' },
      taken: [
        { provider: 'claude', upstream_model: 'gpt-4o', translated: { from: 'chat', to: 'messages' } },
        { provider: 'openai', upstream_model: 'gpt-4o', translated: null },
      ],
      skipped: [],
      error: null,
    })
    const denied = await client.routes.explain({ model: 'gpt-4o', key: 'ci' })
    expect(denied).toMatchObject({ key: { name: 'ci' }, error: { code: 'policy_denied' } })
    expect(denied.policy_signals).toContainEqual(expect.objectContaining({ verdict: 'deny' }))
    expect(await client.routes.explain({ model: 'opus' })).toMatchObject({ lane: 'anthropic', error: null })
    // Not ready in any lane: explained in its own, and for what is wrong with it.
    await client.routes.add({ model: 'idle', provider: 'claude' })
    await client.providers.deactivate({ name: 'claude' })
    expect(await client.routes.explain({ model: 'idle' })).toMatchObject({
      lane: 'anthropic',
      skipped: [{ provider: 'claude', reason: 'not active' }],
    })
    await client.providers.activate({ name: 'claude' })
    expect(await client.routes.explain({ model: 'opus', lane: 'openai' })).toMatchObject({
      taken: [{ provider: 'claude', reason: expect.stringContaining('translated from chat to messages') }],
      error: null,
    })
    expect(await client.routes.explain({ model: 'gpt-9' })).toMatchObject({
      route: null,
      error: { code: 'model_not_found' },
    })
  })

  it('are explained from where the key is, whatever scope was named', async () => {
    const gateway = await startTestGateway()
    const { client } = gateway
    await addProviders(gateway)
    await client.environments.add({ name: 'staging' })
    await client.routes.add({ model: 'gpt-4o', provider: 'openai' })
    const here = { project: 'default', environment: 'production' }
    const there = { ...here, environment: 'staging' }
    await client.keys.create({ name: 'ci' })
    expect(await client.routes.explain({ model: 'gpt-4o', key: 'ci' })).toMatchObject({ key: here, error: null })
    const { id } = await client.keys.create({ name: 'other', environment: 'staging' })
    expect(await client.routes.explain({ model: 'gpt-4o', key: id })).toMatchObject({
      ...there,
      key: { name: 'other', ...there },
      route: null,
      error: { code: 'model_not_found' },
    })
  })

  it('are explained as rejected with a key that is revoked or expired', async () => {
    const gateway = await startTestGateway()
    const { client } = gateway
    await addProviders(gateway)
    await client.routes.add({ model: 'gpt-4o', provider: 'openai' })
    for (const name of ['gone', 'short']) await client.keys.create({ name })
    await client.keys.revoke({ key: 'gone' })
    await client.keys.edit({ key: 'short', expires: '1ms' })
    await new Promise((resolve) => setTimeout(resolve, 5))
    const explain = async (key: string) => await client.routes.explain({ model: 'gpt-4o', key })
    const revoked = { code: 'invalid_key', message: expect.stringContaining('has been revoked') }
    expect(await explain('gone')).toMatchObject({ error: revoked, policy_signals: [{ rule: 'key', verdict: 'deny' }] })
    const expired = { code: 'invalid_key', message: expect.stringContaining('expired at') }
    expect(await explain('short')).toMatchObject({ error: expired, taken: [{ provider: 'openai' }] })
  })

  it('are tested, and the record says what came of it', async () => {
    const gateway = await startTestGateway()
    expect(await gateway.client.routes.test({ model: 'gpt-4o' })).toMatchObject({
      ok: true,
      status: 200,
      provider: null,
    })
  })

  it('are tested on the record of the audit, whether a route matches or not', async () => {
    const gateway = await startTestGateway()
    const { client } = gateway
    await addProviders(gateway)
    await client.routes.add({ model: 'gpt-4o', provider: 'openai' })
    await client.routes.test({ model: 'gpt-4o' })
    await client.routes.test({ model: 'gpt-9' })
    expect(await client.audit.list({ operation: 'routes.test' })).toMatchObject([
      { resource: { kind: 'environment', name: 'production' }, after: { model: 'gpt-9', lane: 'openai' } },
      { resource: { kind: 'route', name: 'gpt-4o' }, before: null, after: { model: 'gpt-4o', lane: 'openai' } },
    ])
  })
})

describe('requests', () => {
  it('are pushed as they settle, through the filter, until the reader stops', async () => {
    const gateway = await startTestGateway()
    const tail = await gateway.client.requests.tail({ status: '4xx', key: 'ci' })
    const first = tail.next()
    // The answer has begun, but the handler starts to listen with the first read.
    while (gateway.tailing() === 0) await new Promise((resolve) => setImmediate(resolve))
    const wanted = sampleRecord({ status: 429 })
    for (const record of [sampleRecord(), sampleRecord({ status: 404, key: null }), wanted]) gateway.settle(record)
    expect(await first).toEqual({ done: false, value: wanted })
    await tail.return?.(undefined)
    while (gateway.tailing() > 0) await new Promise((resolve) => setImmediate(resolve))
  })

  it('since a moment are shown first, oldest first, and none of them twice', async () => {
    const gateway = await startTestGateway()
    const directory = gateway.databasePath.replace(/[^/]+$/, 'journal')
    const minutesAgo = (minutes: number, change: Parameters<typeof sampleRecord>[0] = {}) => {
      const time = Date.now() - minutes * 60_000
      return sampleRecord({ id: newId('req', time), time: new Date(time).toISOString(), ...change })
    }
    const before = [minutesAgo(90), minutesAgo(20), minutesAgo(10, { model: 'other' }), minutesAgo(5)]
    new JournalWriter(directory, { boot: 'live', thread: 0, sequence: 1 }).write(...before.map(settled))
    const tail = await gateway.client.requests.tail({ since: '1h', model: 'gpt-4o-mini' })
    expect([(await tail.next()).value, (await tail.next()).value]).toMatchObject([
      { id: before[1]?.id },
      { id: before[3]?.id },
    ])
    const third = tail.next()
    while (gateway.tailing() === 0) await new Promise((resolve) => setImmediate(resolve))
    const wanted = sampleRecord()
    for (const record of [...before.slice(3), wanted]) gateway.settle(record)
    expect(await third).toEqual({ done: false, value: wanted })
    await tail.return?.(undefined)
    while (gateway.tailing() > 0) await new Promise((resolve) => setImmediate(resolve))
  })

  it('end for a reader who stops while what was before is read, and is not answered', async () => {
    const gateway = await startTestGateway()
    const [asked, stopped] = [Promise.withResolvers<void>(), Promise.withResolvers<never>()]
    gateway.store.readRecords(async ({ signal }) => {
      signal?.addEventListener('abort', () => stopped.reject(new StoreStopped('the read was cancelled')))
      asked.resolve()
      return await stopped.promise
    })
    const stop = new AbortController()
    const tail = await gateway.client.requests.tail({ since: '1h' }, { signal: stop.signal })
    const first = tail.next()
    await asked.promise
    stop.abort()
    await expect(first).rejects.toMatchObject({ name: 'AbortError' })
    await expect(stopped.promise).rejects.toBeInstanceOf(StoreStopped)
    while (gateway.tailing() > 0) await new Promise((resolve) => setImmediate(resolve))
    expect(gateway.faults).toEqual([])
  })

  it('end when the gateway closes', async () => {
    const gateway = await startTestGateway()
    const tail = await gateway.client.requests.tail({})
    const end = tail.next()
    while (gateway.tailing() === 0) await new Promise((resolve) => setImmediate(resolve))
    await gateway.close()
    expect((await end).done).toBe(true)
  })

  it('are listed and summed with filters, and an unknown one is not found', async () => {
    const { client } = await startTestGateway()
    expect(await client.requests.list({ since: '1h', status: '4xx', project: 'default' })).toEqual([])
    expect(await client.requests.stats({ by: 'model' })).toEqual([])
    expect(await refusal(client.requests.show({ id: 'req_nothing' }))).toMatchObject({ code: 'not_found' })
    expect(await refusal(client.requests.list({ status: 'bad' }))).toMatchObject({ code: 'invalid' })
  })
})
