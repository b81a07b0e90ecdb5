import { once } from 'node:events'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { afterEach, expect, it } from 'vitest'
import type { HeldInput, HoldInput, ObjectQuestion, ObjectReply } from '../../../src/core/stored-object.ts'
import { ObjectLookup } from '../../../src/store/objects/object-lookup.ts'
import type { Connection } from '../../../src/store/sqlite/connection.ts'

const session = 'prv_1 /upload/v1beta/files?upload_id=1'
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

async function take(port: MessagePort, id: number, offset: number): Promise<HeldInput | null> {
  port.postMessage({ id, kind: 'take-input', session, offset, scope } satisfies ObjectQuestion)
  for (;;) {
    const [reply]: ObjectReply[] = await once(port, 'message')
    if (reply?.kind === 'held') return reply.held
  }
}

it.each([
  ['before', 0],
  ['behind', 1],
])('gives a call what another thread has given back, also where its port is read %s that one’s', async (_, place) => {
  const lookup = new ObjectLookup({} as Connection, async () => {})
  const both = [connect(lookup), connect(lookup)]
  const [asking, giving] = place === 0 ? both : both.toReversed()
  expect(await take(giving!, 1, 0)).toMatchObject({ offset: 0 })
  giving!.postMessage({ kind: 'hold-input', session, held } satisfies HoldInput)
  expect(await take(asking!, 2, 5)).toEqual(held)
})
