import { MessageChannel } from 'node:worker_threads'
import { afterEach, expect, it } from 'vitest'
import type { ObjectQuestion } from '../../src/core/objects/object-question.ts'
import type { StoredObject } from '../../src/core/objects/stored-object.ts'
import { findCursor } from '../../src/gateway/objects/list-cursor.ts'
import { ObjectIndex } from '../../src/gateway/objects/object-index.ts'

const scope = { projectId: 'p', environmentId: 'e', keyId: 'k' }
const place = { providerId: 'v', credentialId: 'c' }
const own: StoredObject = {
  type: 'file',
  id: 'own',
  requestId: 'r',
  batchId: null,
  createdAt: '2026-01-01',
  ...scope,
  ...place,
}
const stored = [own, { ...own, id: 'foreign', projectId: 'other' }]

const channel = new MessageChannel()
channel.port2.on('message', (question: ObjectQuestion) => {
  const objects = question.kind === 'find' ? stored.filter(({ id }) => question.names.includes(`"${id}"`)) : []
  channel.port2.postMessage({ id: question.id, kind: 'found', objects })
})
const index = new ObjectIndex()
index.attach(channel.port1)
afterEach(() => channel.port1.close())

it('goes on at what is the caller’s, and treats all else alike', async () => {
  const find = (query: string) => findCursor(index, query, 'file', scope, [place])
  expect(await find('?after=own')).toMatchObject({ index: 0, parameter: 'after', begins: false })
  expect(await find('?before_id=own')).toMatchObject({ index: 0, backwards: true })
  expect(await find('?limit=2')).toBeNull()
  for (const id of ['foreign', 'unknown']) {
    const missing = { missing: { type: 'file', id } }
    expect(await find(`?after=${id}`)).toEqual(missing)
    expect(await find(`?%61fter_id=${id}`)).toEqual(missing)
    expect(await find(`?after=own&after=${id}`)).toEqual(missing)
  }
  expect(await findCursor(index, '?after=own', 'file', scope, [])).toEqual({ missing: { type: 'file', id: 'own' } })
})
