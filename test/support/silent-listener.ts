import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Worker } from 'node:worker_threads'

/** A port that is listened on and never accepts: with its backlog full, the kernel leaves further connections unanswered. */
export interface SilentListener {
  port: number
  close(): Promise<void>
}

// The thread sleeps in the middle of its event loop, so nothing is ever accepted.
const source = `
  const { createServer } = require('node:net')
  const { parentPort } = require('node:worker_threads')
  const server = createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  })`

export async function startSilentListener(): Promise<SilentListener> {
  const worker = new Worker(source, { eval: true })
  const [port]: number[] = await once(worker, 'message')
  const fillers = Array.from({ length: 8 }, () => fill(port ?? 0))
  // A backlog of one holds two; the others stay unanswered like whoever comes after them.
  await Promise.all(fillers.slice(0, 2).map((socket) => once(socket, 'connect')))
  return {
    port: port ?? 0,
    async close() {
      for (const socket of fillers) socket.destroy()
      await worker.terminate()
    },
  }
}

function fill(port: number): Socket {
  return connect(port, '127.0.0.1').on('error', () => {})
}
