import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setEnvironmentData } from 'node:worker_threads'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { armFaultPoint } from '../../../src/core/fault-point.ts'
import { createSharedMemory } from '../../../src/daemon/health/memory.ts'
import { WorkerPool, type WorkerPoolOptions } from '../../../src/daemon/threads/worker-pool.ts'
import { makeConfiguration } from '../../support/snapshot.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'workers-'))
  // The two snapshots of the start pass there as well.
  armFaultPoint({ SPGW_FAULT_POINT: 'publish.first-swapped:3:throw' }, setEnvironmentData, () => {})
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const limits = { connect: 5000, firstByte: 10_000, betweenChunks: 10_000, total: 30_000 }
const delta = (version: number) => ({ full: false, version, upsert: [], remove: [] })

function makePool(more: Pick<WorkerPoolOptions, 'whole' | 'onDegraded'>): WorkerPool {
  return new WorkerPool({
    workers: 1,
    settings: {
      host: '127.0.0.1',
      port: 0,
      url: null,
      reusePort: true,
      bodyLimit: 1000,
      uploadLimit: 1000,
      translateLimit: 1000,
      heldLimit: 1000,
      proxies: { http: null, https: null, except: '' },
      timeouts: limits,
      keepAliveMs: 15_000,
      trustedProxies: [],
      corsOrigins: [],
      clientAddress: 'full',
      webrtc: false,
      leaving: false,
      traces: false,
    },
    certificate: null,
    journalDirectory: directory,
    boot: 'test',
    memory: createSharedMemory(1),
    degraded: () => [],
    serveObjects: (port) => port.close(),
    onTraffic: () => {},
    onDeath: () => {},
    onWriters: () => {},
    ...more,
  })
}

it('lets no thread listen that it was starting when it began to drain, and looks at none any more', async () => {
  const told: string[] = []
  const drained = Promise.withResolvers<void>()
  let prepared = 0
  const pool: WorkerPool = makePool({
    whole: () => {
      // The second is the successor of the one that dies: it has started, and does not listen yet.
      if (++prepared === 2) void pool.drain({ drainMs: 1000, drainNoticeMs: 0 }).then(drained.resolve, drained.reject)
      return { snapshot: makeConfiguration(), delta: delta(1), prices: { revision: 0, prices: [] } }
    },
    onDegraded: () => told.push(prepared === 2 ? 'while it drained' : 'before'),
  })
  await pool.start()
  await pool.listen()
  await pool.keys(delta(2))
  await drained.promise
  // Where the successor is slow to start, it is told again before the drain.
  expect([...new Set(told)]).toEqual(['before'])
  expect(pool.size).toBe(0)
})
