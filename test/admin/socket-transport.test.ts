import { once } from 'node:events'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { openSocketTransport } from '../../src/admin/socket-transport.ts'
import { temporaryDirectory } from '../store/support.ts'

const patienceMs = 20_000

it('ends an answer that is still coming when its caller aborts, however long after the call', async () => {
  const socketPath = join(temporaryDirectory(), 'admin.sock')
  const ended = Promise.withResolvers<void>()
  const server = createServer((_request, response) => {
    response.once('close', ended.resolve)
    response.write('first')
  }).listen(socketPath)
  await once(server, 'listening')
  const transport = openSocketTransport(socketPath, { waitMs: 0 })
  const stop = new AbortController()
  try {
    const { url } = transport
    const answer = await transport.fetch(new Request(url, { method: 'POST', body: '{}', signal: stop.signal }))
    const reader = answer.body?.getReader()
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('first')
    const rest = reader?.read()
    await collectGarbage()
    stop.abort()
    // Without a reader that ends nobody would close the connection either.
    const end = rest?.catch((error: Error) => error.name)
    expect(await Promise.race([end, wait(patienceMs, 'it still waits')])).toBe('AbortError')
    await ended.promise
  } finally {
    await transport.close()
    server.closeAllConnections()
    server.close()
  }
})

/** What nobody holds any more is not there afterwards. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let times = 0; times < 3; times++) {
    collect()
    await wait(1)
  }
}
