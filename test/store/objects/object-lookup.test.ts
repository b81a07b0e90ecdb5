import { once } from 'node:events'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { afterEach, expect, it } from 'vitest'
import type { BatchHeldEntry } from '../../../src/core/journal-format.ts'
import type { HeldInput } from '../../../src/core/objects/batch-input.ts'
import type { ObjectQuestion, ObjectReply, PartAnswer, UploadPart } from '../../../src/core/objects/object-question.ts'
import type { StoredObject } from '../../../src/core/objects/stored-object.ts'
import { ObjectLookup } from '../../../src/store/objects/object-lookup.ts'
import type { OtherNodes } from '../../../src/store/replica/other-nodes.ts'
import type { ObjectsAsked } from '../../../src/store/replica/shared-change.ts'
import type { Connection } from '../../../src/store/sqlite/connection.ts'

const scope = { keyId: 'key_1', projectId: 'prj_1', environmentId: 'env_1' }
const held: HeldInput = {
  offset: 5,
  input: { lines: 1, models: [], objects: [], unread: null },
  rest: new Uint8Array(),
}
const ports: MessagePort[] = []

afterEach(() => {
  for (const port of ports.splice(0)) port.close()
})

function connect(lookup: ObjectLookup): MessagePort {
  const { port1, port2 } = new MessageChannel()
  lookup.serve(port1)
  ports.push(port2)
  return port2
}

async function pass(port: MessagePort, more: Partial<UploadPart>): Promise<PartAnswer | string> {
  const part = { step: 'take', name: 'a', call: 'one', projectId: 'prj_1', offset: 0, held: null, ...more } as const
  port.postMessage({ id: 1, kind: 'part', scope, part } satisfies ObjectQuestion)
  for (;;) {
    const [reply]: ObjectReply[] = await once(port, 'message')
    if (reply?.kind === 'part') return { known: reply.known, held: reply.held }
    if (reply?.kind === 'failed') return reply.reason
  }
}

it('gives a call what another thread has given back', async () => {
  const lookup = new ObjectLookup({} as Connection, async () => {})
  const [asking, giving] = [connect(lookup), connect(lookup)]
  expect(await pass(giving, {})).toEqual({ known: true, held: null })
  expect(await pass(giving, { step: 'give', offset: 5, held })).toEqual({ known: true, held: null })
  expect(await pass(asking, { call: 'two', offset: 5 })).toEqual({ known: true, held })
})

it('has nothing of an upload itself where nodes share it, also while they do not', async () => {
  const answers = [async () => ({ known: true, held: 'sealed' }), unreachable]
  const ask = async () => answers.shift()?.()
  const others = { ask } as Partial<OtherNodes> as OtherNodes
  const lookup = new ObjectLookup(
    {} as Connection,
    async () => {},
    () => others,
  )
  const port = connect(lookup)
  expect(await pass(port, {})).toEqual({ known: true, held: 'sealed' })
  expect(await pass(port, {})).toBe('PostgreSQL does not answer in time')
})

const object: StoredObject = {
  ...{ type: 'response', id: 'resp_1', providerId: 'prv_1', credentialId: null, projectId: 'prj_1' },
  ...{ environmentId: 'env_1', keyId: 'key_1', requestId: null, createdAt: '2026-11-26T12:00:00.000Z', batchId: null },
}

/** Of nodes that share their objects: what PostgreSQL has, and what it has once every node has brought its own. */
function lookUp(own: StoredObject[], shared: (settled: boolean) => StoredObject[]): Promise<ObjectReply> {
  const connection = { readHot: async () => own } as Partial<Connection> as Connection
  const ask = async (asked: ObjectsAsked) => shared('settled' in asked && asked.settled)
  const others = { ask } as Partial<OtherNodes> as OtherNodes
  const port = connect(
    new ObjectLookup(
      connection,
      async () => {},
      () => others,
    ),
  )
  port.postMessage({ id: 1, kind: 'find', names: '{"response":["resp_1"]}', count: 1, scope, fresh: true })
  return replyOf(port)
}

function replyOf(port: MessagePort): Promise<ObjectReply> {
  return new Promise((resolve) =>
    port.on('message', (reply: ObjectReply) => {
      if (reply.kind !== 'begun') resolve(reply)
    }),
  )
}

it.each([
  ['this node has', [object], () => [], { kind: 'found', objects: [object] }],
  ['PostgreSQL has', [], () => [object], { kind: 'found', objects: [object] }],
  ['another node brings', [], (settled: boolean) => (settled ? [object] : []), { kind: 'found', objects: [object] }],
  ['nobody has', [], () => [], { kind: 'found', objects: [] }],
])('answers with what %s', async (_, own, shared, reply) => {
  expect(await lookUp(own, shared)).toMatchObject(reply)
})

it('without the others answers with its own, and calls nothing unknown', async () => {
  const away = () => {
    throw new Error('PostgreSQL does not answer in time')
  }
  expect(await lookUp([object], away)).toMatchObject({ kind: 'found', objects: [object] })
  expect(await lookUp([], away)).toMatchObject({ kind: 'failed', reason: 'PostgreSQL does not answer in time' })
})

const work = { batchId: 'run_1', providerId: 'prv_1', credentialId: null }
const heldOf = (model: string | null): BatchHeldEntry => ({
  ...{ kind: 'batch-held', type: 'thread_run', requestId: 'req_1', time: object.createdAt, batchId: 'run_1' },
  ...{
    lane: 'openai',
    provider: 'openai',
    model,
    owner: { ...scope, providerId: 'prv_1', credentialId: null },
    hold: [],
  },
  tokens: { input: 1, output: 2, cache_read: 0, cache_write: 0, reasoning: 0, source: 'estimated' },
})
const [known, unknown] = [heldOf('gpt-a'), heldOf(null)]

it.each<[string, BatchHeldEntry | null, ((settled: boolean) => BatchHeldEntry | null)[], BatchHeldEntry | null]>([
  ['this node knows, without asking', known, [], known],
  ['another node has told', null, [() => known], known],
  ['another node tells when it is asked', unknown, [() => null, (settled) => (settled ? known : null)], known],
  ['this node knows, where the others cannot say', unknown, [unreachable], unknown],
  ['nobody knows', null, [() => null, unreachable], null],
])('goes on with a run by what %s', async (_, own, shared, held) => {
  const connection = { readHot: async () => own && JSON.stringify(own) } as Partial<Connection> as Connection
  const ask = async (asked: ObjectsAsked) => shared.shift()?.('settled' in asked && asked.settled)
  const others = { ask } as Partial<OtherNodes> as OtherNodes
  const ingest = async () => {}
  const port = connect(new ObjectLookup(connection, ingest, () => others))
  port.postMessage({ id: 1, kind: 'work', scope, work } satisfies ObjectQuestion)
  const reply = await replyOf(port)
  expect(reply.kind === 'work' && reply.held && JSON.parse(reply.held)).toEqual(held)
  expect(shared).toEqual([])
})

function unreachable(): never {
  throw new Error('PostgreSQL does not answer in time')
}
