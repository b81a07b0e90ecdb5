import { getEnvironmentData, parentPort, workerData } from 'node:worker_threads'
import { AddressSet } from '../../addresses/address-set.ts'
import { errorStack, errorText } from '../../core/caught.ts'
import { armThread, reachFaultPoint } from '../../core/fault-point.ts'
import { Liveness, nowDoing, TurnWatch } from '../../core/threads/turn-watch.ts'
import { attachCounters, listeners } from '../../policy/counters.ts'
import { LimitCounters } from '../../policy/limits/limit-counters.ts'
import { createHttpTransport } from '../../providers/http.ts'
import { kindsByName } from '../../providers/index.ts'
import { attachHealth } from '../../routing/health.ts'
import { CacheIndex } from '../cache/cache-index.ts'
import { CaptureBudget } from '../capture/kept-bytes.ts'
import type { Gateway } from '../gateway.ts'
import { Journal } from '../journal/journal.ts'
import { ObjectIndex } from '../objects/object-index.ts'
import { BodyMemory } from '../request/body-memory.ts'
import { MemoryBudget } from '../request/memory-budget.ts'
import { changeCertificate, createGatewayServer } from '../server.ts'
import { SocketGaps } from '../sockets/socket-gaps.ts'
import { shutDownAfterCrash } from './crash-shutdown.ts'
import { Deadlines } from './deadlines.ts'
import { Descriptors } from './descriptors.ts'
import { closeStreams, drain, type Pause, pauseNew } from './drain.ts'
import { GcPacer } from './gc-pacing.ts'
import type { FromThread, ThreadStart, ToThread } from './messages.ts'
import { loadPatternEngine, needsPatterns } from './pattern-engine.ts'
import { ReadModel } from './read-model.ts'
import { RefusalSampler } from './refusal-sampling.ts'
import { Traffic } from './traffic.ts'

/** Entry of a data-plane thread. No other thread waits for anything it owns. */
armThread(getEnvironmentData, () => process.kill(process.pid, 'SIGKILL'))
const start = workerData as ThreadStart
const port = parentPort
if (!port) throw new Error('src/gateway/thread/thread.ts is the entry of a worker thread')
const send = (message: FromThread) => port.postMessage(message)
const descriptors = new Descriptors()
const transport = createHttpTransport({ proxies: start.settings.proxies, descriptors })
const journal = new Journal(start.journal, (reason, lost) =>
  send({ type: 'traffic', event: { type: 'degraded', reason, lost } }),
)

const counters = attachCounters(start.counterMemory, start.counterLayout, start.column)
const gateway: Gateway = {
  settings: start.settings,
  thread: start.journal.thread,
  model: new ReadModel(),
  journal,
  captureBudget: new CaptureBudget(),
  memoryBudget: new MemoryBudget(counters, () => gateway.settings.heldLimit),
  bodyMemory: new BodyMemory(),
  objects: new ObjectIndex(),
  answerCache: new CacheIndex(),
  degraded: [],
  refusals: new RefusalSampler((entry) => journal.append(entry)),
  deadlines: new Deadlines(),
  descriptors,
  gcPacer: new GcPacer(),
  transport,
  health: attachHealth(start.healthMemory, start.column, (slot, model) =>
    send({ type: 'traffic', event: { type: 'target-watched', slot, model } }),
  ),
  affinities: new BigUint64Array(start.routingMemory.affinities),
  hedging: new BigInt64Array(start.routingMemory.hedging),
  counters,
  limits: new LimitCounters(
    start.limitMemory,
    start.column,
    undefined,
    (want) => send({ type: 'traffic', event: { type: 'allowance-wanted', want } }),
    (want) => send({ type: 'traffic', event: { type: 'limit-wanted', want } }),
  ),
  shadows: new Set(),
  kinds: kindsByName,
  socketGaps: new SocketGaps(),
  patterns: null,
  trustedProxies: new AddressSet(start.settings.trustedProxies),
  report: (event) => send({ type: 'traffic', event }),
  liveness: new Liveness(start.liveness),
  random: Math.random,
  draining: false,
  crashing: false,
}
const traffic = new Traffic(gateway)
const server = createGatewayServer(traffic, start.certificate)
setInterval(() => gateway.journal.checkPlace(), 1000).unref()
const watch = new TurnWatch((turn) => gateway.report({ type: 'long-turn', turn }))
setInterval(() => {
  gateway.liveness.listen()
  watch.tick()
}, TurnWatch.everyMs).unref()
const left = Promise.withResolvers<void>()
const paused = Promise.withResolvers<void>()
let pausing: Promise<Pause> | null = null
let faulted = false
process.on('uncaughtException', (error) => void crash(error))

port.on('message', (message: ToThread) => {
  nowDoing('message', message.type)
  switch (message.type) {
    case 'configuration':
      return accept(() => {
        // Loaded before the rules arrive, so that no request waits for it.
        if (needsPatterns(message.snapshot)) gateway.patterns ??= loadPatternEngine(message.patternScript)
        gateway.model.replaceConfiguration(message.snapshot)
      })
    case 'keys':
      return accept(() => gateway.model.applyKeys(message.delta))
    case 'prices':
      return accept(() => gateway.model.replacePrices(message.prices))
    case 'settings':
      return change(message)
    case 'degraded':
      gateway.degraded = message.parts
      return
    case 'objects':
      gateway.objects.attach(message.port)
      return gateway.answerCache.attach(message.port)
    case 'close-streams':
      return closeStreams(traffic, message.keyId)
    case 'listen':
      return listen()
    case 'leave':
      return left.resolve()
    case 'stop-listening':
      return void stop()
    case 'drain':
      return void end(message.limitMs)
  }
})

/** A snapshot that does not compile is rejected as a whole, and the old one stays in use. */
function accept(apply: () => void): void {
  try {
    apply()
    reachFaultPoint('publish.first-swapped')
  } catch (error) {
    send({ type: 'refused', reason: errorText(error) })
  }
  const { configuration, keysVersion, pricesRevision } = gateway.model
  send({ type: 'has', configuration: configuration.version, keys: keysVersion, prices: pricesRevision })
}

/** Requests in progress keep the limits that they began with. */
function change({ version, settings, certificate }: Extract<ToThread, { type: 'settings' }>): void {
  gateway.settings = settings
  gateway.trustedProxies = new AddressSet(settings.trustedProxies)
  if (certificate !== null) changeCertificate(server, certificate)
  send({ type: 'has-settings', version })
}

function listen(): void {
  if (faulted) return
  const { host, port: wanted, reusePort } = start.settings
  server.on('error', (error) =>
    server.listening ? fault(error.message) : send({ type: 'failed', reason: error.message }),
  )
  server.listen({ host, port: wanted, reusePort, backlog: 4096 }, () => {
    const address = server.address()
    gateway.counters.reserve(listeners, 1, Number.POSITIVE_INFINITY)
    send({ type: 'listening', port: address !== null && typeof address === 'object' ? address.port : wanted })
  })
}

/** A fault that belongs to no request. */
function fault(reason: string): void {
  gateway.report({ type: 'fault', requestId: '', reason })
}

async function pause(): Promise<Pause> {
  pausing ??= pauseNew(traffic, server)
  const pause = await pausing
  paused.resolve()
  return pause
}

async function stop(): Promise<void> {
  // No successor will come any more. A crashing thread closes its listener itself, once it has answered everything.
  left.resolve()
  if (!faulted) void pause()
  await paused.promise
  send({ type: 'stopped-listening' })
}

async function end(limitMs: number): Promise<void> {
  left.resolve()
  if (faulted) return
  const { closed, begin } = await pause()
  const drained = drain(traffic, server, closed, limitMs)
  begin()
  await drained
  gateway.refusals.flush()
  gateway.journal.close()
  await transport.close()
  send({ type: 'drained' })
}

/**
 * The thread's state is unknown after an uncaught error: it answers its open requests with an error, then ends. A second error ends it at
 * once.
 */
async function crash(error: unknown): Promise<void> {
  if (faulted) process.exit(1)
  faulted = true
  send({ type: 'crashing', reason: errorStack(error) })
  await shutDownAfterCrash(traffic, server, isLastListener() ? left.promise : null, pause)
  gateway.refusals.flush()
  gateway.journal.close()
  process.exit(1)
}

/** On platforms where two threads cannot listen on one port, none waits for the other. */
function isLastListener(): boolean {
  if (!server.listening) return false
  gateway.counters.settle(listeners, 1, 0)
  return gateway.counters.read(listeners) === 0 && start.settings.reusePort
}

send({ type: 'started' })
