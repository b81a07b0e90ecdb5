/**
 * Places where a test build dies on purpose, so that what a crash leaves behind is tested where it is worst and not
 * only where chance strikes. In released builds every function here is empty, and its calls vanish from the bundle.
 * `SPGW_FAULT_POINT=name[:N[:action[:times]]]` strikes at every Nth passing, counted over all threads (default: the
 * first), so many times (default: once). It kills the process, or ends only the thread: `throw` by an error that nobody
 * catches, `heap` by using up its heap. `block` keeps the thread busy for some seconds, and goes on.
 */

/** Set by the bundler: false in what is released, true in test builds. Sources that run unbundled have fault points. */
declare const __FAULT_POINTS__: boolean | undefined

/** In test builds, memory that is used again is filled with this byte first, so that whoever reads it too late is seen. */
export const poison: number | null = typeof __FAULT_POINTS__ === 'undefined' || __FAULT_POINTS__ ? 0x7e : null

export const faultPoints = [
  'ingest.before-commit',
  'ingest.after-commit',
  'ingest.after-delete',
  'interrupt.before-commit',
  'interrupt.after-commit',
  'checkpoint.before',
  'checkpoint.after',
  'migrate.after-copy',
  'migrate.before-commit',
  'migrate.after-commit',
  'publish.before-swap',
  'publish.first-swapped',
  'publish.after-swap',
  'key-change.before-commit',
  'key-change.after-commit',
  'machine-key.opened',
  'seal-rotate.key-written',
  'seal-rotate.before-commit',
  'seal-rotate.after-commit',
  'seal-rotate.durable',
  'seal-rotate.key-installed',
  'seal-rotate.before-publish',
  'backup.snapshot-taken',
  'backup.resealed',
  'backup.half-sent',
  'restore.copied',
  'restore.resealed',
  'restore.committed',
  'restore.set-aside',
  'restore.key-placed',
  'restore.database-placed',
  'journal.after-admitted',
  'journal.after-objects',
  'journal.before-settled',
  'journal.after-settled',
  'append.before',
  'append.after',
  'apply.before-commit',
  'ship.before-commit',
  'ship.after-commit',
  'reprice.stored',
  'dissolve.page-taken',
  'join.key-written',
  'join.after-commit',
] as const

export type FaultPoint = (typeof faultPoints)[number]

/** Plain data, and memory that all threads count in: handed to every thread as it is. */
interface FaultPlan {
  point: FaultPoint
  passing: number
  action: Action
  times: number
  passed: SharedArrayBuffer
}

const actions = ['kill', 'throw', 'heap', 'block'] as const
type Action = (typeof actions)[number]

/** Core does no I/O: what ends the process comes from the entry of each thread. */
interface KillHook {
  kill(): void
}

/** Longer than the control plane may be silent (src/core/threads/turn-watch.ts). */
const blockMs = 12_000

const planName = 'fault-plan'
let armed: (FaultPlan & KillHook) | null = null

/** Does nothing unless this very point is armed. */
export function reachFaultPoint(point: FaultPoint): void {
  if (typeof __FAULT_POINTS__ === 'undefined' || __FAULT_POINTS__) pass(point)
}

/** For the main thread: reads the variable, arms this thread, and puts the plan where later threads find it. */
export function armFaultPoint(
  environment: Readonly<Record<string, string | undefined>>,
  share: (name: string, plan: FaultPlan) => void,
  kill: () => void,
): void {
  if (typeof __FAULT_POINTS__ === 'undefined' || __FAULT_POINTS__) {
    const text = environment.SPGW_FAULT_POINT
    if (!text) return
    const plan = readPlan(text)
    armed = { ...plan, kill }
    share(planName, plan)
  }
}

/** For every other thread: `shared` gives what the main thread has put there. */
export function armThread(shared: (name: string) => unknown, kill: () => void): void {
  if (typeof __FAULT_POINTS__ === 'undefined' || __FAULT_POINTS__) {
    // Only `armFaultPoint` puts anything there.
    const plan = shared(planName) as FaultPlan | undefined
    armed = plan ? { ...plan, kill } : null
  }
}

/** A mistyped name would never strike, and the test that names it would prove nothing. */
function readPlan(text: string): FaultPlan {
  const [name, passing = '1', wanted = 'kill', times = '1'] = text.split(':')
  const point = faultPoints.find((each) => each === name)
  const action = actions.find((each) => each === wanted)
  const counts = /^[1-9]\d* [1-9]\d*$/.test(`${passing} ${times}`)
  if (point === undefined || action === undefined || !counts)
    throw new Error(`SPGW_FAULT_POINT: ${text} is no fault point`)
  const passed = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  return { point, passing: Number(passing), action, times: Number(times), passed }
}

function pass(point: FaultPoint): void {
  if (armed === null || armed.point !== point) return
  const passed = Atomics.add(new Int32Array(armed.passed), 0, 1) + 1
  if (passed % armed.passing === 0 && passed / armed.passing <= armed.times) strike(armed)
}

function strike({ action, kill }: FaultPlan & KillHook): void {
  if (action === 'kill') kill()
  else if (action === 'throw') queueMicrotask(throwUncaught)
  else if (action === 'block') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockMs)
  else fillHeap()
}

/** From a turn of its own, where no caller can catch it. */
function throwUncaught(): never {
  throw new Error('a fault point threw')
}

function fillHeap(): never {
  for (const held: number[][] = []; ; ) held.push(new Array<number>(10_000).fill(0.5))
}
