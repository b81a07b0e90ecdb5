import type { Secret } from '../core/secret.ts'
import type { TrafficEvent } from '../gateway/gateway.ts'
import type { CheckResult, ProviderKind, ProviderTarget, Transport } from '../providers/contract.ts'
import { findKind } from '../providers/index.ts'
import type { Keyring } from '../sealing/keyring.ts'
import type { Provider, StoreClient } from '../store/api.ts'
import type { Log } from './log.ts'
import { isSealedShut, openCredentials, sealedShut } from './open-credentials.ts'

const firstIntervalMs = 30_000
const longestIntervalMs = 5 * 60_000

export interface ReadinessPorts {
  store: StoreClient
  keyring: Keyring
  transport(): Promise<Transport>
  log: Log
  publish(): Promise<void>
  /** A good check ends what traffic had found. */
  markReady(providerId: string): void
}

/**
 * Keeps every provider's readiness true: traffic that meets a refused credential starts a free check at once, and a
 * failing provider is checked again 30 s to 5 min apart until it answers.
 */
export class ReadinessKeeper {
  readonly #ports: ReadinessPorts
  readonly #timers = new Map<string, { timer: NodeJS.Timeout; intervalMs: number }>()
  readonly #checking = new Set<string>()

  constructor(ports: ReadinessPorts) {
    this.#ports = ports
  }

  /** What was failing when the gateway stopped may be well by now: it is checked at once, without holding up the start. */
  async start(): Promise<void> {
    for (const provider of await this.#ports.store.providers.list()) {
      const { state, code } = provider.readiness
      if (isSealedShut(provider, this.#ports.keyring)) {
        if (state !== 'failing') await this.#setFailing(provider, sealedShut, 'credential_sealed')
      } else if (state === 'failing') {
        if (code === 'credential_sealed') await this.#reopen(provider)
        else void this.#recheck(provider.id)
      }
    }
  }

  stop(): void {
    for (const { timer } of this.#timers.values()) clearTimeout(timer)
    this.#timers.clear()
  }

  async check(kind: ProviderKind, target: ProviderTarget, credential: Secret | null): Promise<CheckResult> {
    // Like the transport, loaded with the first check: many a gateway starts with nothing to check.
    const { checkProvider } = await import('../providers/check.ts')
    return checkProvider(kind, target, credential, kind.transport ?? (await this.#ports.transport()))
  }

  /** What traffic saw: believed at once where it is certain, checked where it is not. */
  async onTraffic(event: TrafficEvent): Promise<void> {
    if (event.type === 'credential-doubtful') return this.#recheck(event.providerId)
    if (event.type !== 'credential-rejected' && event.type !== 'quota-exhausted') return
    const provider = await this.#ports.store.providers.find(event.providerId)
    if (provider === null || provider.readiness.state === 'failing') return
    // One of several credentials resting is no failure of the provider's.
    if (provider.revision.credentials.length > 1) return
    const code = event.type === 'quota-exhausted' ? 'quota_exhausted' : 'credential_rejected'
    await this.#setFailing(provider, event.reason, code)
  }

  async #setFailing(provider: Provider, reason: string, code: string | null): Promise<void> {
    const { store, log, publish } = this.#ports
    log.warn('provider is failing', { provider: provider.name, reason })
    await store.providers.setReadiness(
      provider.id,
      { state: 'failing', reason, code, since: new Date().toISOString() },
      null,
    )
    await publish()
    if (!this.#timers.has(provider.id)) this.#schedule(provider.id, firstIntervalMs)
  }

  /** The right machine key is back: nothing more is known against the provider. */
  async #reopen(provider: Provider): Promise<void> {
    const since = new Date().toISOString()
    await this.#ports.store.providers.setReadiness(provider.id, { state: 'unchecked', reason: null, since }, null)
    await this.#ports.publish()
    void this.#recheck(provider.id)
  }

  #schedule(providerId: string, intervalMs: number): void {
    const timer = setTimeout(() => void this.#recheck(providerId), intervalMs).unref()
    this.#timers.set(providerId, { timer, intervalMs })
  }

  async #recheck(providerId: string): Promise<void> {
    if (this.#checking.has(providerId)) return
    this.#checking.add(providerId)
    try {
      await this.#checkOnce(providerId)
    } catch (error) {
      this.#ports.log.error('check failed', {
        provider: providerId,
        reason: error instanceof Error ? error.message : String(error),
      })
    } finally {
      this.#checking.delete(providerId)
    }
  }

  async #checkOnce(providerId: string): Promise<void> {
    const { store, keyring, log, publish, markReady } = this.#ports
    const before = this.#timers.get(providerId)?.intervalMs
    this.#timers.delete(providerId)
    const provider = await store.providers.find(providerId)
    const kind = provider === null ? null : findKind(provider.kind)
    if (provider === null || kind === null) return
    const result = await this.#checkAny(provider, kind, keyring)
    if (!result.ok) {
      if (provider.readiness.state !== 'failing') await this.#setFailing(provider, result.message, result.reason)
      else this.#schedule(providerId, Math.min(longestIntervalMs, (before ?? firstIntervalMs / 2) * 2))
      return
    }
    markReady(providerId)
    if (provider.readiness.state === 'ready') return
    log.info('provider is ready again', { provider: provider.name })
    await store.providers.setReadiness(
      providerId,
      { state: 'ready', reason: null, since: new Date().toISOString() },
      result.models,
    )
    await publish()
  }

  /** A pool is as good as its best credential. */
  async #checkAny(provider: Provider, kind: ProviderKind, keyring: Keyring): Promise<CheckResult> {
    const { revision } = provider
    const target = { name: provider.name, baseUrl: revision.baseUrl, settings: revision.settings }
    if (isSealedShut(provider, keyring))
      return { ok: false, reason: 'credential_sealed', message: sealedShut, models: [] }
    const credentials = openCredentials(provider, keyring).map(({ credential }) => credential)
    let result = await this.check(kind, target, credentials[0] ?? null)
    for (const credential of credentials.slice(1)) if (!result.ok) result = await this.check(kind, target, credential)
    return result
  }
}
