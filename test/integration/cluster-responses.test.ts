import { createServer, type Server } from 'node:http'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TestCluster } from '../support/cluster.ts'
import { listen } from '../support/listen.ts'
import { needsPostgres, postgresPrograms } from '../support/postgres-server.ts'

/** A provider of another format, without state: it answers with a number of its own. */
const asked: string[] = []
const provider: Server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const body = JSON.parse(Buffer.concat(chunks).toString())
    asked.push(JSON.stringify(body.messages))
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify({
        ...{ id: `msg_number${asked.length}`, type: 'message', role: 'assistant', model: body.model },
        content: [{ type: 'text', text: `answer ${asked.length}.` }],
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: { input_tokens: 5, output_tokens: 3 },
      }),
    )
  })
})

describe.skipIf(postgresPrograms === null)(`responses that two nodes keep (${needsPostgres})`, () => {
  let cluster: TestCluster
  let key: string
  let stranger: string
  beforeAll(async () => {
    const baseUrl = await listen(provider)
    cluster = await TestCluster.start(['gw-a', 'gw-b'], { records: 'shared' })
    const { admin, createKey } = node('gw-a').gateway
    const place = { name: 'stateless', kind: 'anthropic', baseUrl, credential: 'sk-ant-x', skipCheck: true } as const
    await admin.providers.add(place)
    const route = { model: 'kept', targets: ['stateless:claude-sonnet-4-5'], keepResponses: '1h' }
    await admin.routes.add(route)
    await admin.projects.add({ name: 'other' })
    await admin.environments.add({ project: 'other', name: 'production' })
    await admin.routes.add({ ...route, project: 'other' })
    key = (await createKey('ci')).key
    stranger = (await createKey('stranger', { project: 'other' })).key
    await cluster.converge()
  })
  afterAll(async () => {
    await cluster?.stop()
    provider.closeAllConnections()
    provider.close()
  })

  const node = (name: string) => cluster.node(name)

  const on = (name: string, apiKey = key) =>
    new OpenAI({ apiKey, baseURL: `${node(name).gateway.baseUrl}/v1`, maxRetries: 0 }).responses
  const names = ['gw-a', 'gw-b'] as const

  it('goes on through the other node with what was kept a moment before, turn after turn', async () => {
    let before: OpenAI.Responses.Response | null = null
    for (let turn = 0; turn < 12; turn++) {
      const given = before === null ? {} : { previous_response_id: before.id }
      const name = names[turn % 2] ?? 'gw-a'
      const next: OpenAI.Responses.Response = await on(name).create({ model: 'kept', input: `turn ${turn}.`, ...given })
      expect(next).toMatchObject({ store: true, previous_response_id: before?.id ?? null })
      before = next
    }
    const places = Array.from({ length: 12 }, (_, turn) => asked.at(-1)?.indexOf(`turn ${turn}.`) ?? -1)
    expect(places).toEqual(places.filter((at) => at >= 0).toSorted((one, other) => one - other))
    for (const name of names) {
      expect((await on(name).retrieve(before?.id ?? '')).output_text).toBe(before?.output_text)
      expect((await on(name).inputItems.list(before?.id ?? '', { limit: 100 })).data).toHaveLength(23)
    }
    await expect(on('gw-a', stranger).retrieve(before?.id ?? '')).rejects.toMatchObject({ status: 404 })
  })

  it('resolves on one node an item that the other kept', async () => {
    const { output } = await on('gw-a').create({ model: 'kept', input: 'an item' })
    const item = { type: 'item_reference' as const, id: output[0]?.id ?? '' }
    await on('gw-b').create({ model: 'kept', input: [item, { role: 'user', content: 'on' }] })
    expect(asked.at(-1)).toContain(`answer ${asked.length - 1}.`)
  })

  it('forgets on every node what was deleted on either, also after a restart of the one that kept it', async () => {
    const kept = await on('gw-a').create({ model: 'kept', input: 'short-lived' })
    await on('gw-b').delete(kept.id)
    await expect(on('gw-b').retrieve(kept.id)).rejects.toMatchObject({ status: 404 })
    // The node that made it forgets it within a moment.
    const status = (name: string) =>
      on(name)
        .retrieve(kept.id)
        .then(
          () => 200,
          ({ status }: { status: number }) => status,
        )
    await expect.poll(() => status('gw-a')).toBe(404)
    await node('gw-a').gateway.kill('SIGKILL')
    await node('gw-a').restart()
    const next = { model: 'kept', input: 'on', previous_response_id: kept.id }
    for (const name of names) {
      await expect.poll(() => status(name), { timeout: 20_000 }).toBe(404)
      await expect(on(name).create(next)).rejects.toMatchObject({ code: 'previous_response_not_found' })
    }
  })

  it('goes on after the node that kept it was killed, and without it once it is removed', async () => {
    const kept = await on('gw-a').create({ model: 'kept', input: 'before the kill' })
    await node('gw-a').gateway.kill('SIGKILL')
    await node('gw-a').restart()
    const [first, second] = await Promise.all([
      on('gw-a').create({ model: 'kept', input: 'on', previous_response_id: kept.id }),
      expect
        .poll(
          () =>
            on('gw-b')
              .retrieve(kept.id)
              .then(({ id }) => id, String),
          { timeout: 20_000 },
        )
        .toBe(kept.id)
        .then(() => on('gw-b').create({ model: 'kept', input: 'on', previous_response_id: kept.id })),
    ])
    expect([first.previous_response_id, second.previous_response_id]).toEqual([kept.id, kept.id])
  })

  it('does not call unknown what the other node may have kept while PostgreSQL is away', async () => {
    const [here, there] = await Promise.all(
      names.map((name) => on(name).create({ model: 'kept', input: `by ${name}` })),
    )
    for (const { proxy } of cluster.nodes) proxy.become('cut')
    const next = (id = '') => on('gw-a').create({ model: 'kept', input: 'on', previous_response_id: id })
    expect((await next(here?.id)).previous_response_id).toBe(here?.id)
    await expect(next(there?.id)).rejects.toMatchObject({ status: 503 })
    for (const { proxy } of cluster.nodes) proxy.become('pass')
    await expect.poll(() => next(there?.id).then(({ status }) => status, String), { timeout: 20_000 }).toBe('completed')
  })
})
