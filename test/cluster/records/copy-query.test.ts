import type { Client } from 'pg'
import { expect, it } from 'vitest'
import { copyFrom } from '../../../src/cluster/records/copy-query.ts'

it('hands the data on as it is, behind what says how long it is', async () => {
  const written: Uint8Array[] = []
  const stream = { cork: () => {}, uncork: () => {}, write: (chunk: Uint8Array) => written.push(chunk) }
  const client = {
    query(copy: { handleCopyInResponse(connection: unknown): void; callback(error: Error | null): void }) {
      copy.handleCopyInResponse({ stream, endCopyFrom: () => written.push(Buffer.from('end')) })
      copy.callback(null)
    },
  }
  const data = Buffer.from('gw-a\tspg_1\n'.repeat(30))
  await copyFrom(client as unknown as Client, 'copy spgw.records from stdin', data)

  const [head, sent, ...after] = written
  expect(head).toEqual(Buffer.from([0x64, 0, 0, 1, 78]))
  expect(sent).toBe(data)
  expect(after).toEqual([Buffer.from('end')])
})
