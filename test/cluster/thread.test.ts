import { MessageChannel } from 'node:worker_threads'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ClusterLink } from '../../src/cluster/link.ts'
import { startThread } from '../../src/daemon/threads/threads.ts'
import { MockPostgres } from '../support/mock-postgres.ts'

let server: MockPostgres

beforeEach(async () => {
  server = await MockPostgres.start((text) => (text.includes('pg_listening_channels') ? [{ name: 'spgw' }] : []))
})
afterEach(async () => await server.close())

const records = { node: 'gw-a', keepMs: 1000, keepBodiesMs: 1000 }

/** A real thread and whoever starts the next one; `until` resolves when as much was said of the link. */
function open() {
  const links: (string | null)[] = []
  const threads: number[] = []
  let wake = () => {}
  const link = new ClusterLink(() => startThread('cluster', { address: server.address, records }), {
    onLink(trouble) {
      links.push(trouble)
      wake()
    },
    onHead() {},
    onMembers() {},
    onRecall() {},
    onValkey() {},
    onThread: () => void threads.push(links.length),
  })
  const until = async (count: number) => {
    while (links.length < count) {
      const next = Promise.withResolvers<void>()
      wake = next.resolve
      await next.promise
    }
  }
  return { link, links, threads, until }
}

it('ends at an error that nobody catches, says which, and the next thread is linked again', async () => {
  const { link, links, threads, until } = open()
  await until(1)
  const { port1: outbox, port2: store } = new MessageChannel()
  link.giveOutbox(outbox)
  // Nothing that a store says.
  store.postMessage(7)
  await until(3)
  expect(links).toEqual([null, expect.stringMatching(/^the cluster thread crashed: TypeError: /), null])
  expect(threads).toEqual([2])
  await link.close()
})

it('ends when it is closed, though it waits for PostgreSQL to let it in', async () => {
  const gate = Promise.withResolvers<void>()
  server.gate = gate.promise
  const { link, links } = open()
  await server.until(() => server.sessions.size > 0)
  const asked = performance.now()
  await link.close()
  // So long PostgreSQL has for an answer, and the gateway would wait for it.
  expect(performance.now() - asked).toBeLessThan(2900)
  expect(links).toEqual([])
  gate.resolve()
})
