import { expect, it } from 'vitest'
import type { ClusterLink } from '../../../src/cluster/link.ts'
import { RecordReader } from '../../../src/daemon/records/read-records.ts'
import { StoreStopped } from '../../../src/store/store-error.ts'
import { startTestStore, storePaths, temporaryDirectory } from '../../store/support.ts'

it('waits for no PostgreSQL that does not answer once its reader stops', async () => {
  const store = await startTestStore(storePaths(temporaryDirectory()))
  const asked = Promise.withResolvers<void>()
  const ask = async (name: string) => {
    if (name === 'ship') return null
    asked.resolve()
    return await new Promise(() => {})
  }
  const link = { ask } as unknown as ClusterLink
  const { read } = new RecordReader({ link, store, node: 'gw-a', out: () => null, onApart() {} })
  const stop = new AbortController()
  const call = { table: 'records', method: 'list', input: [{ limit: 10 }], signal: stop.signal } as const
  const reading = read({ ...call, input: [...call.input] }, async () => [])
  await asked.promise
  stop.abort()
  await expect(reading).rejects.toBeInstanceOf(StoreStopped)
  await expect(read({ ...call, input: [...call.input] }, async () => [])).rejects.toBeInstanceOf(StoreStopped)
})

it('reads of a node that was removed only what is here: what it answers now, PostgreSQL does not have', async () => {
  const store = await startTestStore(storePaths(temporaryDirectory()))
  const asked: string[] = []
  const link = { ask: async (name: string) => void asked.push(name) } as unknown as ClusterLink
  const said: (string | null)[] = []
  const out = () => 'this node was removed'
  const { read } = new RecordReader({ link, store, node: 'gw-a', out, onApart: (reason) => said.push(reason) })
  const list = (filter: object) =>
    read({ table: 'records', method: 'list', input: [{ limit: 10, ...filter }], signal: null }, async () => ['own'])
  expect(await list({})).toEqual(['own'])
  await expect(list({ node: 'gw-b' })).rejects.toThrow('records of gw-b cannot be read: this node was removed')
  expect(await read({ table: 'records', method: 'get', input: ['req_1'], signal: null }, async () => null)).toBeNull()
  expect([asked, new Set(said)]).toEqual([[], new Set(['this node was removed'])])
})
