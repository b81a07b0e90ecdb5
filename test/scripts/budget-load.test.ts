import { createServer } from 'node:http'
import { expect, it } from 'vitest'
import { BudgetLoad } from '../../scripts/crash/budget-load.ts'
import { seededRandom } from '../../scripts/crash/random.ts'
import { listenOnPort } from '../support/listen.ts'

it('notes when a client has the last byte, and when its gateway died before that: by then nothing was let go', async () => {
  const whole = new Set<string>()
  const cut = new Set<string>()
  const server = createServer((request, response) => {
    request.resume()
    request.once('end', () => {
      const tag = String(request.headers['x-sp-tag']).replace('call=', '')
      const fate = Number(tag) % 3
      const ended = fate === 0 ? whole : cut
      ended.add(tag)
      if (fate === 0) response.end('{}')
      else if (fate === 1) response.writeHead(200).write('{', () => response.destroy())
      else response.destroy()
    })
  })
  const port = await listenOnPort(server)
  const load = new BudgetLoad(`http://127.0.0.1:${port}`, { spender: 'a', limited: 'b' }, seededRandom(1), 3)
  await expect.poll(() => load.ended, { timeout: 10_000 }).toBeGreaterThan(60)
  await load.end()
  server.close()
  const noted = [...load.lastBytes.keys()]
  // Some have left before.
  expect(noted.filter((tag) => whole.has(tag)).length).toBeGreaterThan(10)
  expect(noted.filter((tag) => cut.has(tag)).length).toBeGreaterThan(20)
})
