import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { getEnvironmentData, type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { errorStack } from '../core/caught.ts'
import { armThread } from '../core/fault-point.ts'
import { type LongTurn, nowDoing, TurnWatch } from '../core/threads/turn-watch.ts'
import { type CallLife, runStoppable } from './cancellation.ts'
import type { StoreMessage, StoreQuestion, StoreRequest, StoreThreadData } from './protocol.ts'
import { StoreSession } from './session.ts'
import { lockDatabase } from './sqlite/lock.ts'
import { openStore } from './sqlite/open.ts'
import { toPlainError } from './store-error.ts'
import { trimHeapAfterStart } from './trim-heap.ts'

/** The store's own thread: SQLite is synchronous, and here it blocks nothing but the store. */
async function run(port: MessagePort, data: StoreThreadData): Promise<void> {
  let crashing = false
  const post = (message: StoreMessage): void => {
    // Work that still runs during a crash finds half of everything closed: its answers would mislead.
    if (!crashing) port.postMessage(message)
  }
  process.on('uncaughtException', (error) => {
    post({ kind: 'crashing', reason: errorStack(error) })
    crashing = true
    process.exit(1)
  })
  const file = { path: data.databasePath, nativeBinding: data.nativeBinding }
  const lock = await lockDatabase(file)
  post({ kind: 'locked' })
  // The first message is `open`; others come only once the store has said that it is ready.
  await once(port, 'message')
  mkdirSync(data.journalDirectory, { recursive: true, mode: 0o700 })
  const store = await openStore(file)
  const end = () => {
    lock.release()
    port.close()
  }
  const session = new StoreSession(store, data)
  const running = new Map<number, CallLife>()
  port.on('message', (request: StoreRequest) => {
    const { audience } = session
    switch (request.kind) {
      case 'open':
        return
      case 'writers':
        session.writers = request.writers
        return
      case 'retention':
        session.keepRecords(request.retention)
        return
      case 'objects':
        session.serveObjects(request.port)
        return
      case 'outbox':
        session.serveOutbox(request.port)
        return
      case 'stop': {
        const life = running.get(request.id)
        if (life !== undefined) life.stopped = true
        return
      }
      case 'records':
        audience.ended = request.wanted ? (records) => post({ kind: 'records', records }) : null
        return
      case 'admitted':
        audience.admitted = request.wanted
        return
      case 'traffic':
        audience.traffic = request.wanted ? (tally) => post({ kind: 'traffic', tally }) : null
        return
      case 'holds':
        audience.holds = request.wanted ? (settled) => post({ kind: 'holds', settled }) : null
        return
      case 'traces':
        audience.traces = request.wanted
        return
      default:
        void answer(session, request, post, running).then(() => request.kind === 'close' && end())
    }
  })
  await session.start()
  watchTurns((turn) => post({ kind: 'long-turn', turn }))
  post({ kind: 'ready', upgrade: store.upgrade })
  trimHeapAfterStart()
}

async function answer(
  session: StoreSession,
  question: StoreQuestion,
  post: (message: StoreMessage) => void,
  running: Map<number, CallLife>,
): Promise<void> {
  const life = { stopped: false }
  running.set(question.id, life)
  try {
    const output = await runStoppable(life, () => dispatch(session, question))
    post({ kind: 'answer', id: question.id, output })
  } catch (error) {
    post({ kind: 'failure', id: question.id, error: toPlainError(error) })
  } finally {
    running.delete(question.id)
  }
}

async function dispatch(session: StoreSession, question: StoreQuestion): Promise<unknown> {
  if (question.kind === 'table') nowDoing(question.table, question.method)
  else nowDoing('store', question.kind)
  switch (question.kind) {
    case 'table':
      return await session.call(question)
    case 'snapshot':
      return await session.snapshot(question.keysSince)
    case 'purge':
      return await session.purge(question.question)
    case 'replica':
      return await session.replica(question.request)
    case 'ingest':
      return await session.ingest()
    case 'health':
      return await session.health()
    case 'close':
      return await session.close()
  }
}

function watchTurns(report: (turn: LongTurn) => void): void {
  const watch = new TurnWatch(report)
  setInterval(() => watch.tick(), TurnWatch.everyMs).unref()
}

armThread(getEnvironmentData, () => process.kill(process.pid, 'SIGKILL'))
const port = parentPort
if (!port) throw new Error('src/store/thread.ts is the entry of a worker thread')
run(port, workerData as StoreThreadData).catch((error: unknown) => {
  port.postMessage({ kind: 'refused', error: toPlainError(error) } satisfies StoreMessage)
  port.close()
})
