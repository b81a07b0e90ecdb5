import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { setEnvironmentData } from 'node:worker_threads'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { armFaultPoint } from '../../src/core/fault-point.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'

let plane: DataPlane
beforeEach(async () => {
  // The two snapshots of the start pass there as well.
  armFaultPoint({ SPGW_FAULT_POINT: 'publish.first-swapped:3:throw' }, setEnvironmentData, () => {})
  plane = await startDataPlane({ providers: [{ kind: 'openai', baseUrl: 'http://127.0.0.1:1' }] })
})
afterEach(() => plane.stop())

const port = () => Number(new URL(plane.baseUrl).port)

async function dial(): Promise<Socket> {
  const socket = connect(port(), '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

/** It meets a fault that nobody catches, and as the only listener waits for the next. */
async function die(): Promise<void> {
  const crashed = plane.hear('crashing')
  void plane.changeKey({})
  await crashed
}

/** The next one listens, so this one leaves. */
async function leave(): Promise<void> {
  plane.tell({ type: 'leave' })
  for (;;) {
    const refused = await dial().then(
      (socket) => !socket.destroy(),
      () => true,
    )
    if (refused) return
    await wait(5)
  }
}

it('a crashed thread waits for the request of a connection that it has taken in', async () => {
  await die()
  const socket = await dial()
  await leave()
  const closed = once(socket, 'close')
  // As slow as a client is that waits for its turn on a busy machine.
  await wait(300)
  let answer = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    answer += text
  })
  socket.write(`GET /v1/models HTTP/1.1\r\nhost: here\r\nauthorization: Bearer ${plane.key}\r\n\r\n`)
  await closed
  expect(answer).toContain('HTTP/1.1 500')
  expect(answer).toContain('x-sp-error: internal')
  expect(answer.toLowerCase()).toContain('connection: close')
  expect(plane.newest()).toMatchObject({ status: 500, error: { code: 'internal' } })
})

it('begins nothing of what it takes in while its listener closes', async () => {
  await die()
  const sockets = await Promise.all(Array.from({ length: 40 }, dial))
  const answers = sockets.map(async (socket) => {
    let answer = ''
    socket.setEncoding('utf8').on('data', (text: string) => {
      answer += text
    })
    const body = '{"model":"openai-model","messages":[]}'
    const head = `host: here\r\nauthorization: Bearer ${plane.key}\r\ncontent-type: application/json`
    socket.write(`POST /v1/chat/completions HTTP/1.1\r\n${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
    await once(socket, 'close')
    return answer
  })
  plane.tell({ type: 'leave' })
  for (const answer of await Promise.all(answers)) expect(answer).toContain('x-sp-error: internal')
  const records = plane.records()
  expect(records).toHaveLength(sockets.length)
  // With a provider that nobody reaches, an attempt would be on the record.
  expect(records.filter(({ attempts }) => attempts.length > 0)).toEqual([])
})

it('and no longer for one on which nothing comes', async () => {
  await die()
  const socket = await dial()
  await leave()
  socket.resume()
  await once(socket, 'close')
  expect(plane.records()).toEqual([])
})

it('nor for its successor once the gateway ends', async () => {
  await die()
  const socket = await dial()
  socket.resume()
  const closed = once(socket, 'close')
  await plane.drain(0)
  await closed
})
