import { EventEmitter } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import type { MessagePort, Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSharedMemory } from '../../src/daemon/health/memory.ts'
import { WorkerPool, type WorkerPoolOptions } from '../../src/daemon/threads/worker-pool.ts'
import type { GatewaySettings } from '../../src/gateway/gateway.ts'
import type { FromThread, ThreadStart, ToThread } from '../../src/gateway/thread/messages.ts'
import { makeConfiguration } from '../support/snapshot.ts'

/** A thread of the data plane that does at once what it is asked for, unless the test holds it. */
class Thread extends EventEmitter {
  readonly start: ThreadStart
  readonly heard: ToThread[] = []
  /** It says nothing of these. */
  silent: ToThread['type'][] = []
  hasEnded = false
  readonly #has = { configuration: -1, keys: -1, prices: -1 }

  constructor(start: ThreadStart) {
    super()
    this.start = start
    this.say({ type: 'started' })
  }

  postMessage(message: ToThread): void {
    this.heard.push(message)
    if (message.type === 'objects') message.port.close()
    if (!this.silent.includes(message.type)) this.#do(message)
  }

  #do(message: ToThread): void {
    if (message.type === 'configuration') this.#has.configuration = message.snapshot.version
    else if (message.type === 'keys') this.#has.keys = message.delta.version
    else if (message.type === 'prices') this.#has.prices = message.prices.revision
    else if (message.type === 'settings') return this.say({ type: 'has-settings', version: message.version })
    else if (message.type === 'listen') return this.say({ type: 'listening', port: 1 })
    else if (message.type === 'stop-listening') return this.say({ type: 'stopped-listening' })
    else if (message.type === 'drain') return this.say({ type: 'drained' })
    else return
    this.say({ type: 'has', ...this.#has })
  }

  say(message: FromThread): void {
    queueMicrotask(() => this.hasEnded || this.emit('message', message))
  }

  end(code = 1): void {
    if (this.hasEnded) return
    this.hasEnded = true
    this.emit('exit', code)
  }

  async terminate(): Promise<number> {
    this.end(0)
    return 0
  }

  types(): string[] {
    return this.heard.map(({ type }) => type)
  }
}

const limits = { connect: 5000, firstByte: 10_000, betweenChunks: 10_000, total: 30_000 }
const settings: GatewaySettings = {
  ...{ host: '127.0.0.1', port: 0, url: null, reusePort: true, bodyLimit: 1000, uploadLimit: 1000 },
  ...{ translateLimit: 1000, heldLimit: 1000, proxies: { http: null, https: null, except: '' }, timeouts: limits },
  ...{ keepAliveMs: 15_000, trustedProxies: [], corsOrigins: [], clientAddress: 'full', webrtc: false },
  ...{ leaving: false, traces: false },
}
const delta = (version: number) => ({ full: false, version, upsert: [], remove: [] })

let threads: Thread[]
let said: { deaths: string[]; degraded: (string | null)[]; writers: number[][]; faults: string[] }
let ports: MessagePort[]
/** What becomes of each new thread before anything is said to it. */
let prepare: (thread: Thread) => void
/** So many threads more cannot be started. */
let refused: number
/** As the publisher has them: a thread that starts meanwhile is given these. */
let keysVersion: number
let pool: WorkerPool
beforeEach(() => {
  threads = []
  keysVersion = 1
  ports = []
  prepare = () => {}
  refused = 0
  said = { deaths: [], degraded: [], writers: [], faults: [] }
  pool = open(2)
})
afterEach(async () => {
  for (const thread of threads) thread.silent = []
  await pool.drain({ drainMs: 0, drainNoticeMs: 0 })
  for (const port of ports) port.close()
})

function open(workers: number): WorkerPool {
  const options: WorkerPoolOptions = {
    ...{ workers, settings, certificate: null, journalDirectory: '/nowhere', boot: 'test' },
    memory: createSharedMemory(workers),
    whole: () => ({ snapshot: makeConfiguration(), delta: delta(keysVersion), prices: { revision: 0, prices: [] } }),
    degraded: () => [],
    serveObjects: (port) => void ports.push(port),
    onTraffic: (event, thread) => event.type === 'fault' && void said.faults.push(`${thread}: ${event.reason}`),
    onDeath: (thread, reason) => void said.deaths.push(`${thread}: ${reason}`),
    onDegraded: (reason) => void said.degraded.push(reason),
    onWriters: ({ running }) => void said.writers.push([...running]),
    startWorker(start) {
      if (refused-- > 0) throw new Error('Worker initialization failure: EAGAIN')
      const thread = new Thread(start)
      threads.push(thread)
      prepare(thread)
      return thread as object as Worker
    },
  }
  return new WorkerPool(options)
}

async function serve(): Promise<[Thread, Thread]> {
  await pool.start()
  await pool.listen()
  const [one, two] = threads
  if (one === undefined || two === undefined) throw new Error('there are no two threads')
  return [one, two]
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await turn()
}

/** Whether it is over after some turns in which it could have been. */
async function isOver(run: Promise<unknown>): Promise<boolean> {
  let over = false
  void run.then(() => {
    over = true
  })
  for (let left = 10; left > 0; left--) await turn()
  return over
}

describe('a start', () => {
  it('gives each thread the whole state before it listens', async () => {
    const [one, two] = await serve()
    for (const thread of [one, two])
      expect(thread.types()).toEqual(['configuration', 'keys', 'prices', 'degraded', 'objects', 'listen'])
    expect(one.heard[1]).toMatchObject({ delta: { full: true } })
    expect([one.start.column === two.start.column, pool.size, said.writers.at(-1)]).toEqual([false, 2, [0, 1]])
  })

  it('fails where a thread ends before it has begun, with what it said last', async () => {
    prepare = (thread) =>
      queueMicrotask(() => {
        thread.emit('error', new Error('no such addon'))
        thread.end()
      })
    await expect(pool.start()).rejects.toThrow(/^a data-plane thread cannot start: Error: no such addon/)
    expect(threads).toHaveLength(2)
  })

  it('fails where a thread cannot listen', async () => {
    await pool.start()
    for (const thread of threads) thread.silent = ['listen']
    const listening = pool.listen()
    for (const thread of threads) thread.say({ type: 'failed', reason: 'EADDRINUSE' })
    await expect(listening).rejects.toThrow('EADDRINUSE')
  })
})

describe('what is published', () => {
  it('is there once every thread that takes requests has it', async () => {
    const [one, two] = await serve()
    two.silent = ['keys', 'prices', 'configuration', 'settings']
    const runs = [
      pool.keys(delta(2)),
      pool.prices({ revision: 5, prices: [] }),
      pool.configuration(makeConfiguration({ version: 7 })),
      pool.settings(settings, null),
    ]
    expect(await Promise.all(runs.map(isOver))).toEqual([false, false, false, false])
    two.say({ type: 'has', configuration: 7, keys: 2, prices: 5 })
    expect(await Promise.all(runs.map(isOver))).toEqual([true, true, true, false])
    two.say({ type: 'has-settings', version: 1 })
    await Promise.all(runs)
    expect(one.types().slice(-4)).toEqual(['keys', 'prices', 'configuration', 'settings'])
  })

  it('is not waited for of a thread that crashes meanwhile, or has ended', async () => {
    const [one, two] = await serve()
    one.silent = ['keys']
    two.silent = ['keys']
    keysVersion = 2
    const published = pool.keys(delta(2))
    one.say({ type: 'crashing', reason: 'a bug' })
    expect(await isOver(published)).toBe(false)
    two.end()
    await published
    expect(said.deaths).toEqual(['0: a bug', '1: it ended with 1'])
  })

  it('and rejected by a thread is a fault of the gateway, with the reason', async () => {
    const [one] = await serve()
    one.say({ type: 'refused', reason: 'two routes tie' })
    await until(() => said.faults.length > 0)
    expect(said.faults).toEqual(['0: snapshot rejected: two routes tie'])
  })

  it('while a thread starts comes to it behind the whole state', async () => {
    const [one] = await serve()
    prepare = (thread) => {
      thread.silent = ['prices']
    }
    one.end()
    await until(() => threads[2]?.types().includes('prices') === true)
    await pool.keys(delta(9))
    const versions = threads[2]?.heard.flatMap((message) => (message.type === 'keys' ? [message.delta.version] : []))
    expect([versions, threads[2]?.types().includes('listen')]).toEqual([[1, 9], false])
    threads[2]?.say({ type: 'has', configuration: 1, keys: 9, prices: 0 })
    await until(() => pool.size === 2)
  })
})

describe('a thread that crashes', () => {
  it('is replaced at once under another number, and leaves its place when that listens', async () => {
    const [one, two] = await serve()
    one.say({ type: 'crashing', reason: 'a bug\nat its place' })
    await until(() => threads.length === 3 && pool.size === 2)
    const third = threads[2]
    expect(third?.start.journal.thread).toBe(2)
    // It has not ended, so its column is its own.
    expect([one, two].map(({ start }) => start.column)).not.toContain(third?.start.column)
    expect([one.types().at(-1), two.types().at(-1)]).toEqual(['leave', 'listen'])
    expect(said.degraded.at(0)).toContain('1 of 2 data-plane threads are running')
    expect(said.degraded.at(0)).toContain('the last crash: a bug')
    expect(said.degraded.at(-1)).toBeNull()
    one.end()
    await turn()
    expect([threads.length, said.writers.at(-1), said.deaths]).toEqual([3, [1, 2], ['0: a bug\nat its place']])
  })

  it('is followed by one that has the settings of now, and the certificate that was given last', async () => {
    const [one] = await serve()
    const certificate = { cert: 'c', key: 'k', ticketKeys: new Uint8Array() }
    await pool.settings({ ...settings, bodyLimit: 5 }, certificate)
    await pool.setLeaving(true)
    await pool.settings({ ...settings, bodyLimit: 7 }, null)
    one.end()
    await until(() => threads.length === 3)
    expect(threads[2]?.start).toMatchObject({ settings: { bodyLimit: 7, leaving: true }, certificate })
    // A change of settings is no return to service.
    expect(pool.leaving).toBe(true)
  })

  it('is replaced again where its successor cannot listen', async () => {
    const [one] = await serve()
    let count = 0
    prepare = (thread) => {
      if (++count > 1) return
      thread.silent = ['listen']
      void until(() => thread.types().includes('listen')).then(() => thread.say({ type: 'failed', reason: 'EMFILE' }))
    }
    one.end()
    await until(() => threads.length === 4 && pool.size === 2)
    expect(said.deaths).toEqual(['0: it ended with 1', '2: EMFILE'])
    expect(threads[2]?.hasEnded).toBe(true)
  })
})

describe('a machine that has no room for another thread', () => {
  it('is asked again until it has, while the threads that run go on', async () => {
    const [one, two] = await serve()
    refused = 2
    one.end()
    await until(() => threads.length === 3 && pool.size === 2)
    const reason = 'Worker initialization failure: EAGAIN'
    expect(said.deaths).toEqual(['0: it ended with 1', `2: ${reason}`, `3: ${reason}`])
    expect([threads[2]?.start.journal.thread, two.hasEnded, said.degraded.at(-1)]).toEqual([
      4,
      false,
      expect.any(String),
    ])
    expect(said.degraded.some((each) => each?.includes(reason))).toBe(true)
  })

  it('cannot start a gateway', async () => {
    refused = 1
    await expect(pool.start()).rejects.toThrow('Worker initialization failure: EAGAIN')
  })
})

describe('a drain', () => {
  it('lets every thread stop listening before any of them closes a connection', async () => {
    const [one, two] = await serve()
    two.silent = ['stop-listening']
    const drained = pool.drain({ drainMs: 1000, drainNoticeMs: 0 })
    expect(await isOver(drained)).toBe(false)
    expect([one.types().at(-1), two.types().at(-1)]).toEqual(['stop-listening', 'stop-listening'])
    two.say({ type: 'stopped-listening' })
    await drained
    expect([one.types().at(-1), two.types().at(-1), one.hasEnded, two.hasEnded]).toEqual(['drain', 'drain', true, true])
  })

  it('says beforehand that nothing more is to be sent, and replaces nobody who dies of it', async () => {
    const [one, two] = await serve()
    two.silent = ['drain']
    const drained = pool.drain({ drainMs: 1000, drainNoticeMs: 1 })
    await until(() => two.types().includes('drain'))
    expect(one.types().slice(-3)).toEqual(['settings', 'stop-listening', 'drain'])
    expect(pool.leaving).toBe(true)
    two.say({ type: 'crashing', reason: 'a bug' })
    two.end()
    await drained
    expect([threads.length, said.deaths, pool.size]).toEqual([2, [], 0])
  })
})

it('gives the index of objects to threads that live, again where the store was replaced', async () => {
  const [one, two] = await serve()
  expect(ports).toHaveLength(2)
  two.end()
  await until(() => pool.size === 2)
  pool.connectObjects()
  expect([ports.length, one.types().at(-1), two.types().at(-1)]).toEqual([5, 'objects', 'listen'])
})
