import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { CpuTime } from './children.ts'
import { renderTable } from './report.ts'

/** What V8 writes; times in microseconds. */
export interface CpuProfile {
  /** On the clock of `process.hrtime`. */
  startTime: number
  nodes: { id: number; callFrame: CallFrame }[]
  samples: number[]
  timeDeltas: number[]
}

interface CallFrame {
  functionName: string
  url: string
  /** From 0. */
  lineNumber: number
}

const root = join(import.meta.dirname, '../..')
const most = { functions: 24, areas: 12 }
const entries: [file: string, thread: string][] = [
  ['src/gateway/thread/thread.ts', 'data-plane thread'],
  ['src/store/thread.ts', 'store thread'],
]

export function nameThread({ nodes }: CpuProfile): string {
  const own = nodes.map(({ callFrame }) => callFrame.url)
  return entries.find(([file]) => own.some((url) => url.endsWith(file)))?.[1] ?? 'main thread'
}

/** Processor time of each thread, as the operating system counts it, the profiler's own cost included. */
export function renderThreads(
  before: ReadonlyMap<string, CpuTime>,
  after: ReadonlyMap<string, CpuTime>,
  count: number,
  unit: string,
): string {
  const each = [...after].map(([name, time]) => {
    const { user, system } = before.get(name) ?? { user: 0, system: 0 }
    return { name, user: (time.user - user) / count, system: (time.system - system) / count }
  })
  const rows = each
    .filter(({ user, system }) => user + system >= 0.1)
    .sort((a, b) => b.user + b.system - a.user - a.system)
  return renderTable(
    [`CPU µs a ${unit}`, 'user', 'kernel', 'thread'],
    rows.map(({ name, user, system }) => [...[user + system, user, system].map((micros) => micros.toFixed(1)), name]),
  )
}

/** Time spent from `from` on in each function itself, not in what it calls: by function, then by part of the program. */
export function renderProfile(profile: CpuProfile, from: number, count: number, unit: string): string {
  const functions = new Map<string, number>()
  const areas = new Map<string, number>()
  let busy = 0
  for (const [frame, time] of ownTimes(profile, from)) {
    if (frame.functionName === '(idle)') continue
    busy += time
    add(functions, `${frame.functionName || '(anonymous)'} ${placeOf(frame)}`.trim(), time)
    add(areas, areaOf(frame), time)
  }
  const head = ['µs', '%', `µs a ${unit}`]
  const rows = (times: Map<string, number>, limit: number) =>
    [...times]
      .sort(([, a], [, b]) => b - a)
      .slice(0, limit)
      .map(([name, time]) => [time.toFixed(0), ((time / busy) * 100).toFixed(1), (time / count).toFixed(2), name])
  // The profiler's clock runs on while a thread waits for its core: shares are right, microseconds are too many.
  const sum = `${(busy / 1e6).toFixed(2)} s, waiting for the core included; ${(busy / count).toFixed(1)} µs a ${unit}`
  const byFunction = renderTable([...head, 'function'], rows(functions, most.functions))
  return [sum, byFunction, renderTable([...head, 'part'], rows(areas, most.areas))].join('\n\n')
}

function ownTimes({ nodes, samples, timeDeltas, startTime }: CpuProfile, from: number): Map<CallFrame, number> {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const times = new Map<CallFrame, number>()
  let now = startTime
  for (const [index, id] of samples.entries()) {
    const time = timeDeltas[index] ?? 0
    now += time
    const frame = frames.get(id)
    if (frame !== undefined && now >= from) times.set(frame, (times.get(frame) ?? 0) + time)
  }
  return times
}

function add(times: Map<string, number>, name: string, time: number): void {
  times.set(name, (times.get(name) ?? 0) + time)
}

function placeOf({ url, lineNumber }: CallFrame): string {
  return url === '' ? '' : `${shorten(url)}:${lineNumber + 1}`
}

/** `src/gateway`, `undici`, `node:internal/streams`; what has no file is the engine's own, or C++. */
function areaOf({ url, functionName }: CallFrame): string {
  if (url === '') return functionName.startsWith('(') ? functionName : '(native functions)'
  const file = shorten(url)
  if (file.startsWith('src/')) return file.split('/').slice(0, 2).join('/')
  return file
    .split('/')
    .slice(0, 2)
    .join('/')
    .replace(/\/lib$/, '')
}

function shorten(url: string): string {
  if (!url.startsWith('file:')) return url
  return fileURLToPath(url)
    .replace(`${root}${sep}`, '')
    .replace(/^.*node_modules\//, '')
}
