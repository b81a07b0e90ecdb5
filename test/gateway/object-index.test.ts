import { once } from 'node:events'
import { MessageChannel } from 'node:worker_threads'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { ObjectQuestion, ObjectReply } from '../../src/core/objects/object-question.ts'
import { ObjectIndex } from '../../src/gateway/objects/object-index.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { type ObjectUpstream, startObjectUpstream } from '../support/object-upstream.ts'

const scope = { projectId: 'prj_a', environmentId: 'env_a', keyId: 'key_a' }

/** The other end, as the store's thread has it. */
function serve(index: ObjectIndex, answer: (question: ObjectQuestion) => ObjectReply) {
  const { port1, port2 } = new MessageChannel()
  port2.on('message', (question: ObjectQuestion) => port2.postMessage(answer(question)))
  index.attach(port1)
  return port2
}

const found = ({ id }: ObjectQuestion): ObjectReply => ({ id, kind: 'found', objects: [] })

describe('the way to the index', () => {
  afterEach(() => void vi.useRealTimers())
  const holdTimers = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })

  it('gives each its own answer, whatever order they come in', async () => {
    const index = new ObjectIndex()
    const waiting: ObjectQuestion[] = []
    const { port1, port2 } = new MessageChannel()
    port2.on('message', (question: ObjectQuestion) => {
      waiting.push(question)
      if (waiting.length < 2) return
      for (const { id, kind } of waiting.reverse())
        port2.postMessage(kind === 'find' ? { id, kind: 'found', objects: [] } : { id, kind: 'places', places: [] })
    })
    index.attach(port1)
    expect(await Promise.all([index.find([], scope), index.places('file', scope)])).toEqual([[], []])
    port1.close()
  })

  it('says when nobody answers in time, and waits no longer', async () => {
    holdTimers()
    const asked = new ObjectIndex().find([], scope)
    vi.advanceTimersByTime(1000)
    expect(await asked).toEqual({ failed: 'it did not answer within 1000 ms' })
  })

  it('counts anew from when the store has begun', async () => {
    holdTimers()
    const index = new ObjectIndex()
    const { port1, port2 } = new MessageChannel()
    index.attach(port1)
    const asked = index.find([], scope)
    vi.advanceTimersByTime(999)
    const heard = once(port1, 'message')
    port2.postMessage({ id: 1, kind: 'begun' } satisfies ObjectReply)
    await heard
    vi.advanceTimersByTime(499)
    vi.advanceTimersByTime(1)
    expect(await asked).toEqual({ failed: 'it did not answer within 500 ms' })
    port1.close()
  })

  it('asks for so many names at a time for each key, for the others in their turn, and for each once', async () => {
    const index = new ObjectIndex()
    const asked: ObjectQuestion[] = []
    const { port1, port2 } = new MessageChannel()
    port2.on('message', (question: ObjectQuestion) => asked.push(question))
    index.attach(port1)
    const name = { type: 'file', id: 'a' } as const
    const names = Array.from({ length: 999 }, (_, id) => ({ type: 'file', id: `${id}` }) as const)
    const many = [index.find([name, name], scope), ...Array.from({ length: 5 }, () => index.find(names, scope))]
    const other = index.find([name], { ...scope, keyId: 'key_b' })
    while (asked.length < 4) await once(port2, 'message')
    expect(asked.map((question) => ('scope' in question ? question.scope.keyId : null))).toEqual([
      ...Array(3).fill('key_a'),
      'key_b',
    ])
    expect(asked[0]).toMatchObject({ names: '{"file":["a"]}', count: 1 })
    for (let answered = 0; answered < 7; answered++) {
      while (asked[answered] === undefined) await once(port2, 'message')
      port2.postMessage(found(asked[answered]!))
    }
    expect(await Promise.all([...many, other])).toEqual(Array(7).fill([]))
    port1.close()
  })

  it('lets no key have hundreds waiting, and none for long', async () => {
    holdTimers()
    const index = new ObjectIndex()
    const names = Array.from({ length: 999 }, (_, id) => ({ type: 'file', id: `${id}` }) as const)
    const asked = Array.from({ length: 1003 }, () => index.look(names, scope))
    vi.advanceTimersByTime(1000)
    // Those whose turn has come in this very moment wait on, for their answer.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    vi.advanceTimersByTime(1000)
    const replies = await Promise.all(asked)
    expect(replies.at(-1)).toEqual({ failed: 'the key has 1000 look-ups waiting already' })
    expect(replies.at(0)).toEqual({ failed: 'it did not answer within 1000 ms' })
  })

  it('asks the successor of a thread that died what the dead one did not answer', async () => {
    const index = new ObjectIndex()
    const { port1, port2 } = new MessageChannel()
    index.attach(port1)
    const asked = index.find([], scope)
    port2.start()
    await once(port2, 'message')
    port2.close()
    const next = serve(index, found)
    expect(await asked).toEqual([])
    next.close()
  })

  it('passes on why the store could not tell', async () => {
    const index = new ObjectIndex()
    const port = serve(index, ({ id }) => ({ id, kind: 'failed', reason: 'the disk is full' }))
    expect(await index.look([], scope)).toEqual({ failed: 'the disk is full' })
    port.close()
  })
})

describe('without the index', () => {
  let upstream: ObjectUpstream
  let plane: DataPlane
  beforeAll(async () => {
    upstream = await startObjectUpstream()
    plane = await startDataPlane({ providers: [{ kind: 'openai', baseUrl: upstream.baseUrl }] })
  })
  afterAll(async () => {
    await plane.stop()
    await upstream.close()
  })

  const call = (path: string, body?: object) =>
    fetch(`${plane.baseUrl}/v1${path}`, {
      headers: { authorization: `Bearer ${plane.key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    })

  it('a name in the path or the body, and a list, fail closed: 503, to be tried again, and nothing is sent', async () => {
    const answers = await Promise.all([
      call('/files/file-1'),
      call('/responses', { model: 'openai-model', input: 'hi', previous_response_id: 'resp_1' }),
      call('/files'),
    ])
    for (const answer of answers) {
      expect([answer.status, answer.headers.get('x-sp-error')]).toEqual([503, 'object_index_unavailable'])
      expect(answer.headers.get('retry-after')).toBe('1')
      const record = await plane.record(answer.headers.get('x-sp-request-id'))
      expect(record.routing_signals.at(-1)).toMatchObject({ rule: 'object', verdict: 'deny' })
    }
    expect(upstream.arrivals).toEqual([])
  })

  it('what waits to be journaled is not called unknown', async () => {
    const { port1, port2 } = new MessageChannel()
    port2.on('message', ({ id }: ObjectQuestion) => port2.postMessage({ id, kind: 'found', objects: [] }))
    plane.tell({ type: 'objects', port: port1 }, [port1])
    expect((await call('/files/file-1')).headers.get('x-sp-error')).toBe('object_not_found')
    const sick = { part: 'journal', reason: 'the disk is full', since: new Date().toISOString() } as const
    plane.tell({ type: 'degraded', parts: [sick] })
    expect((await call('/files/file-1')).headers.get('x-sp-error')).toBe('object_index_unavailable')
    expect(upstream.arrivals).toEqual([])
    port2.close()
  })

  it('what names nothing is served as ever', async () => {
    upstream.answer = () => ({ body: '{"id":"resp_1","object":"response","status":"completed","output":[]}' })
    expect((await call('/responses', { model: 'openai-model', input: 'hi' })).status).toBe(200)
    expect(upstream.arrivals).toHaveLength(1)
  })
})
