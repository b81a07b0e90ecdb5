import { on } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { Readings } from '../../../src/cluster/readings/readings.ts'
import { listenOnPort } from '../../support/listen.ts'

/** Takes connections as PostgreSQL does, and never answers. */
const silent = createServer()
const sockets = new Set<Socket>()
silent.on('connection', (socket) => void sockets.add(socket.on('error', () => {})))
afterEach(() => {
  for (const socket of sockets) socket.destroy()
  silent.close()
})

it('goes on beside a long one, over a few connections at most', async () => {
  const port = await listenOnPort(silent)
  const address = {
    host: '127.0.0.1',
    port,
    user: 'spgw',
    password: null,
    database: 'spgw',
    authority: null,
    plain: true,
  }
  const nobody = { ask: () => Promise.reject(new Error('it is stopped by nobody')) }
  const readings = new Readings(address, nobody)
  const opened = on(silent, 'connection')
  const { signal } = new AbortController()
  const read = () => readings.answer({ method: 'get', input: ['req_1'] }, signal).catch(() => null)
  const first = read()
  await opened.next()
  // Nobody waits for the first any more, and it takes as long as it takes.
  const others = [read(), read(), read(), read()]
  await opened.next()
  await opened.next()
  expect(sockets.size).toBe(3)
  for (const socket of sockets) socket.destroy()
  silent.close()
  await Promise.all([first, ...others, readings.close()])
})
