import { once } from 'node:events'
import { MessageChannel } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { OutboxClient } from '../../../src/cluster/records/outbox-client.ts'

it('says that the store is not there, to who waits for it and to who asks afterwards', async () => {
  const { port1, port2 } = new MessageChannel()
  const outbox = new OutboxClient(port1, async ({ question }) => ({ question, output: null }))
  const waiting = outbox.ask('ingest', null)
  const closed = once(port1, 'close')
  port2.close()
  await expect(waiting).rejects.toThrow('the store is not there')
  await closed
  await expect(outbox.ask('ingest', null)).rejects.toThrow('the store is not there')
})
