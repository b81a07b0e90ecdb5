import { readdirSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cpuMicros, residentBytes, run, waitedMs } from '../children.ts'
import type { SpgwTarget } from '../spgw.ts'
import type { Bench } from '../target.ts'
import type { HeapWatch } from './heap-watch.ts'

/** Everything that must not grow, at one moment. Sizes in bytes, times in milliseconds. */
export interface Sample {
  /** Since the soak began. */
  atMs: number
  residentBytes: number
  /** Heap of the control plane's thread. */
  heapBytes: number
  /** What full collections left of the heaps of the store thread and of a data-plane thread; NaN where nobody looks. */
  storeHeapBytes: number
  dataPlaneHeapBytes: number
  descriptors: number
  journalBytes: number
  databaseBytes: number
  walBytes: number
  lagMs: number
  /** Delay of the data plane's event loop as its clients see it: a probe that needs no more than a turn, 20 a second. */
  probeP50Ms: number
  probeP99Ms: number
  probeMaxMs: number
  /** Of the control plane's event loop. */
  controlP99Ms: number
  /** Processor time of the whole process since it was started. */
  cpuMs: number
  /** For how long the data plane had something to do and no core to do it on, since its start: others' doing. */
  waitedMs: number
  inFlight: number
}

const probesPerSecond = 20

/** Watches for `ms` and then looks. */
export async function takeSample(
  bench: Bench,
  target: SpgwTarget,
  heaps: HeapWatch,
  begun: number,
  ms: number,
): Promise<Sample> {
  const probe = await probeLoop(bench, target, ms)
  const metrics = await readMetrics(target)
  const sizes = sizesOf(target.data)
  return {
    atMs: performance.now() - begun,
    residentBytes: residentBytes(target.pid),
    heapBytes: metrics('nodejs_heap_size_used_bytes'),
    storeHeapBytes: heaps.storeBytes,
    dataPlaneHeapBytes: heaps.dataPlaneBytes,
    descriptors: readdirSync(`/proc/${target.pid}/fd`).length,
    ...sizes,
    lagMs: (metrics('spgw_record_lag_seconds') || 0) * 1000,
    ...probe,
    controlP99Ms: metrics('nodejs_eventloop_lag_p99_seconds') * 1000,
    cpuMs: cpuMicros(target.pid) / 1000,
    waitedMs: waitedMs(target.pid, 'spgw-gateway'),
    inFlight: metrics('spgw_requests_in_flight'),
  }
}

async function probeLoop({ machine, loadProgram, directory }: Bench, target: SpgwTarget, ms: number) {
  const { port } = target.reach({ way: 'openai', path: '', body: '' })
  const request = join(directory, 'probe-request')
  const answer = join(directory, 'probe-answer')
  await writeFile(request, `GET /healthz HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`)
  await writeFile(answer, await (await fetch(`http://127.0.0.1:${port}/healthz`)).text())
  const words = [loadProgram, port, 4, ms, probesPerSecond, request, answer].map(String)
  const result: { p50: number; p99: number; max: number } = JSON.parse(await run(machine, words, { place: 'load' }))
  return { probeP50Ms: result.p50, probeP99Ms: result.p99, probeMaxMs: result.max }
}

/** The value of a metric, all its labels together; NaN of one that is not there. */
export async function readMetrics(target: SpgwTarget): Promise<(name: string) => number> {
  const text = await (await fetch(`http://127.0.0.1:${target.consolePort}/metrics`)).text()
  return (name) => {
    const values = [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (.*)$`, 'gm'))].map(([, value]) => Number(value))
    return values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0)
  }
}

function sizesOf(data: string): { journalBytes: number; databaseBytes: number; walBytes: number } {
  const size = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0
  const journal = join(data, 'journal')
  return {
    journalBytes: readdirSync(journal).reduce((sum, name) => sum + size(join(journal, name)), 0),
    databaseBytes: size(join(data, 'spgw.db')),
    walBytes: size(join(data, 'spgw.db-wal')),
  }
}
