import { once } from 'node:events'
import { MessageChannel } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { OutboxClient } from '../../../src/cluster/records/outbox-client.ts'
import type { OutboxQuestion } from '../../../src/store/replica/outbox-types.ts'

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

/** The store's side, which answers when the test says so. */
function openOutbox() {
  const { port1, port2 } = new MessageChannel()
  const asked: OutboxQuestion[] = []
  let wake = () => {}
  port2.on('message', (message: OutboxQuestion) => {
    asked.push(message)
    wake()
  })
  const outbox = new OutboxClient(port1, async ({ question }) => ({ question, output: `answer to ${question}` }))
  return {
    outbox,
    port: port2,
    async until(count: number): Promise<OutboxQuestion[]> {
      while (asked.length < count) await new Promise<void>((resolve) => (wake = resolve))
      return asked
    },
  }
}

describe('a question to the store', () => {
  it('has the answer that is for it, in whichever order they come, each once', async () => {
    const { outbox, port, until } = openOutbox()
    const answers = ['resume', 'resume', 'resume'].map((_, sequence) =>
      outbox.ask('resume', { sequence, mark: `mark ${sequence}` }),
    )
    const asked = await until(3)
    expect(asked.map(({ act, input }) => [act, input])).toEqual(
      [0, 1, 2].map((sequence) => ['resume', { sequence, mark: `mark ${sequence}` }]),
    )
    for (const [place, { id }] of [...asked.entries()].reverse()) port.postMessage({ id, output: place * 10 })
    // Nobody asked for these any more.
    port.postMessage({ id: asked[0]?.id, output: 'again' })
    port.postMessage({ id: 999, failure: 'of another' })
    expect(await Promise.all(answers)).toEqual([0, 10, 20])
    port.close()
  })

  it('fails with what the store says, and alone', async () => {
    const { outbox, port, until } = openOutbox()
    const [first, second] = [outbox.ask('ingest', null), outbox.ask('ingest', null)]
    const asked = await until(2)
    port.postMessage({ id: asked[1]?.id, output: undefined })
    port.postMessage({ id: asked[0]?.id, failure: 'the disk is full' })
    await expect(first).rejects.toThrow('the disk is full')
    expect(await second).toBeUndefined()
    port.close()
  })

  it('fails where it is closed before it is answered', async () => {
    const { outbox } = openOutbox()
    const waiting = [outbox.ask('ingest', null), outbox.ask('ingest', null)]
    outbox.close()
    const refused = waiting.map((each) => expect(each).rejects.toThrow('the store is not there'))
    await Promise.all(refused)
  })
})

it('answers what the store asks of all nodes, beside what it asks itself', async () => {
  const { outbox, port } = openOutbox()
  const replied = once(port, 'message')
  port.postMessage({ question: 7, act: 'find' })
  expect((await replied)[0]).toEqual({ question: 7, output: 'answer to 7' })
  outbox.close()
})
