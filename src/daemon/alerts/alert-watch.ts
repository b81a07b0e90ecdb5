import type { AdminParts } from '../../admin/handlers/context.ts'
import type { Settings } from '../../config/settings.ts'
import type { AlertMessage } from '../../core/alert.ts'
import { errorText } from '../../core/caught.ts'
import { newId } from '../../core/ids.ts'
import type { TrafficTally } from '../../core/traffic-tally.ts'
import type { Transport } from '../../providers/contract.ts'
import type { Alert, AlertDelivery } from '../../store/api.ts'
import type { Log } from '../log.ts'
import { TrafficWindow } from '../records/recent-traffic.ts'
import { alertPage } from './alert-page.ts'
import { type AlertReport, findChanges } from './changes.ts'
import {
  type AlertCondition,
  diskCrossing,
  errorsCrossing,
  findAlertConditions,
  isTooFew,
  type Observed,
  providerCrossing,
} from './conditions.ts'
import { afterTry, type DeliveryTry, type Receiver, send, writeRequest } from './delivery.ts'
import { type CertificateFiles, observe } from './observe.ts'

const everyMs = 5000
/** Over which the share of errors is looked at. */
const errorSeconds = 300
const keepMs = 62 * 24 * 3600_000
const forgetEveryMs = 3600_000

export interface AlertWatchOptions extends Pick<AdminParts, 'store' | 'keyring' | 'runtime'> {
  /** As a reload left them. */
  settings(): CertificateFiles & { console: Pick<Settings['console'], 'url'> }
  transport(): Promise<Transport>
  log: Log
  /** On a node of a cluster: which of an alert's reports this node is to send. */
  claim?: ((alertId: string, reports: readonly AlertReport[]) => Promise<readonly AlertReport[]>) | null
  now?(): number
}

/**
 * Looks every few seconds at what alerts report, writes what is new into the store, and sends what is due. What was
 * crossed and its deliveries are one transaction, so that neither a restart nor a crash reports it twice or not at all; a
 * crash between a receiver's answer and its note sends the same delivery again, under the same id.
 */
export class AlertWatch {
  readonly counts = { delivered: 0, retried: 0, failed: 0 }
  readonly #options: AlertWatchOptions
  readonly #window = new TrafficWindow(0, errorSeconds)
  /** Ids of providers that have failed, and names of those that have answered, since the gateway began. */
  readonly #failed = new Set<string>()
  readonly #answered = new Set<string>()
  readonly #sending = new Map<string, Promise<void>>()
  #timer: NodeJS.Timeout | null = null
  #looking: Promise<void> | null = null
  #forgotAt = 0
  #startedAt = 0
  #endTraffic: (() => void) | null = null
  #isStopped = false

  constructor(options: AlertWatchOptions) {
    this.#options = options
  }

  start(): void {
    this.#startedAt = this.#now()
    this.#endTraffic = this.#options.store.onTraffic((tally) => this.#hear(tally))
    this.#timer ??= setInterval(() => void this.look(), everyMs).unref()
  }

  /** What was under way is sent again by the next start. */
  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
    this.#isStopped = true
    this.#endTraffic?.()
  }

  /** Never rejects: a store in trouble is asked again at the next look. */
  look(): Promise<void> {
    this.#looking ??= this.#look()
      .catch((error: unknown) => this.#options.log.warn('alerts were not checked', { reason: errorText(error) }))
      .finally(() => {
        this.#looking = null
      })
    return this.#looking
  }

  /** Tries what is due at once; resolves when each has been tried. */
  async sendDue(): Promise<void> {
    const { store } = this.#options
    const due = await store.alerts.due(this.#iso())
    if (due.length === 0) return
    const alerts = new Map((await store.alerts.list()).map((alert) => [alert.id, alert]))
    // Those of one receiver follow one another; a receiver that stalls delays no other.
    await Promise.all(
      [...Map.groupBy(due, ({ alertId }) => alertId)].map(async ([alertId, deliveries]) => {
        const alert = alerts.get(alertId)
        for (const delivery of deliveries) if (alert !== undefined) await this.#tryOnce(alert, delivery)
      }),
    )
  }

  async #look(): Promise<void> {
    const { store, runtime, settings, claim } = this.#options
    const alerts = (await store.alerts.list()).filter(({ active }) => active)
    if (alerts.length === 0) return
    const now = this.#now()
    const { requests, failures } = this.#window.count(now)
    const observed = await observe(runtime, settings(), { requests, failures }, now)
    const conditions = findAlertConditions(observed)
    const unknown = this.#findUnknown(observed, conditions)
    const reported = Map.groupBy(await store.alerts.crossings(), ({ alertId }) => alertId)
    for (const { id, events } of alerts) {
      const known = new Set((reported.get(id) ?? []).map(({ crossing }) => crossing))
      const { crossed, ended, reports } = findChanges(events, conditions, known, { ...observed, unknown })
      if (crossed.length + ended.length === 0) continue
      const own = (await claim?.(id, reports)) ?? reports
      const deliveries = own.map(({ message }) => makeDelivery(id, this.#withPage(message), now))
      await store.alerts.raise(id, { time: this.#iso(), crossed, ended, deliveries })
    }
    // Of a clock that was ahead and was set back, the last time lies in the future.
    if (Math.abs(now - this.#forgotAt) > forgetEveryMs) {
      this.#forgotAt = now
      const kept = conditions.flatMap(({ crossing, includes }) => [crossing, ...includes])
      await store.alerts.forget(new Date(now - keepMs).toISOString(), kept)
    }
    // Nobody waits: a receiver may stall for long, and the next look finds what is left.
    this.sendDue().catch((error: unknown) =>
      this.#options.log.warn('alerts were not sent', { reason: errorText(error) }),
    )
  }

  #withPage(message: AlertMessage): AlertMessage {
    const { url } = this.#options.settings().console
    return url === null ? message : { ...message, data: { ...message.data, url: alertPage(message, url) } }
  }

  #hear(tally: TrafficTally): void {
    this.#window.add(tally, this.#now())
    for (const { provider, outcome } of tally.attempts) if (outcome === 'answered') this.#answered.add(provider)
  }

  /**
   * A start remembers neither failed calls nor the traffic before it; and with a credential or an address that nobody has tried yet,
   * a provider has not shown that it works.
   */
  #findUnknown({ now, providers, traffic, disk }: Observed, conditions: readonly AlertCondition[]): Set<string> {
    const failing = new Set(conditions.map(({ crossing }) => crossing))
    for (const { id } of providers) if (failing.has(providerCrossing(id))) this.#failed.add(id)
    const untried = providers.filter(({ id, name, state }) => {
      return state.state === 'unchecked' || (!this.#failed.has(id) && !this.#answered.has(name))
    })
    const unknown = new Set(untried.map(({ id }) => providerCrossing(id)))
    if (isTooFew(traffic) && Math.abs(now - this.#startedAt) < errorSeconds * 1000) unknown.add(errorsCrossing)
    if (disk === null) unknown.add(diskCrossing)
    return unknown
  }

  /** Whoever asks for one that is being tried waits for that try. */
  #tryOnce(alert: Alert, delivery: AlertDelivery): Promise<void> {
    const running = this.#sending.get(delivery.id)
    if (running !== undefined) return running
    const trying = this.#try(alert, delivery).finally(() => this.#sending.delete(delivery.id))
    this.#sending.set(delivery.id, trying)
    return trying
  }

  async #try(alert: Alert, delivery: AlertDelivery): Promise<void> {
    const { store, log } = this.#options
    const current = await store.alerts.delivery(delivery.id)
    // Another look may have sent it while this one waited for its turn.
    if (current === null || current.nextAt === null || current.nextAt > this.#iso()) return
    const tried = await this.#send(alert, current)
    if (this.#isStopped) return
    const after = afterTry(current.tries, tried, this.#now())
    await store.alerts.noteTry(current.id, after)
    this.counts[after.state === 'pending' ? 'retried' : after.state]++
    if (tried.reason !== null)
      log.warn('an alert was not delivered', { alert: alert.name, delivery: current.id, reason: tried.reason })
  }

  async #send(alert: Alert, delivery: AlertDelivery): Promise<DeliveryTry> {
    const { keyring, transport } = this.#options
    try {
      const receiver = JSON.parse(keyring.open(alert.sealed, `alert:${alert.id}`).reveal()) as Receiver
      return await send(await transport(), writeRequest(delivery, alert.format, receiver, this.#now()))
    } catch (error) {
      return { status: null, reason: errorText(error) }
    }
  }

  #now(): number {
    return this.#options.now?.() ?? Date.now()
  }

  #iso(): string {
    return new Date(this.#now()).toISOString()
  }
}

function makeDelivery(alertId: string, message: AlertDelivery['message'], now: number): AlertDelivery {
  const createdAt = new Date(now).toISOString()
  const untried = { state: 'pending', tries: 0, endedAt: null, status: null, reason: null } as const
  return { id: newId('msg', now), alertId, message, createdAt, nextAt: createdAt, ...untried }
}
