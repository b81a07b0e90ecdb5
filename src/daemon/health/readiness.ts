import { errorText } from '../../core/caught.ts'
import type { Secret } from '../../core/secrets/secret.ts'
import type { TrafficEvent } from '../../gateway/gateway.ts'
import type { CheckResult, ProviderKind, ProviderTarget, Transport } from '../../providers/contract.ts'
import { findKind } from '../../providers/index.ts'
import type { Keyring } from '../../sealing/keyring.ts'
import type { Provider, StoreClient } from '../../store/api.ts'
import type { Log } from '../log.ts'
import { openCredentials, whyShut } from '../open-credentials.ts'

const firstIntervalMs = 30_000
const longestIntervalMs = 5 * 60_000
const betweenChecksMs = 10_000

export interface ReadinessPorts {
  store: StoreClient
  keyring: Keyring
  transport(): Promise<Transport>
  log: Log
  publish(): Promise<void>
  /** A good check ends what traffic had found. */
  markReady(providerId: string): void
  /** Opens the provider's breaker for all calls. */
  pause(providerId: string): void
  /** Of a credential by its place in the pool. True: none is left that can be used. */
  coolDown(providerId: string, index: number, until: number): boolean
}

/**
 * Keeps every provider's readiness true: calls that are rejected with a credential, or fail repeatedly, start a free check at
 * once, and a failing provider is checked again 30 s to 5 min apart until it answers.
 */
export class ReadinessKeeper {
  readonly #ports: ReadinessPorts
  readonly #timers = new Map<string, { timer: NodeJS.Timeout; intervalMs: number }>()
  readonly #checking = new Set<string>()
  /** When each of the checks that traffic started began; forgotten when another may begin. */
  readonly #lately = new Map<string, number>()
  #stopped = false

  constructor(ports: ReadinessPorts) {
    this.#ports = ports
  }

  /** What was failing when the gateway stopped may be well by now: it is checked at once, without holding up the start. */
  async start(): Promise<void> {
    for (const provider of await this.#ports.store.providers.list()) {
      const { state, code } = provider.readiness
      const shut = whyShut(provider, this.#ports.keyring)
      if (shut !== null) {
        if (state !== 'failing') await this.#setFailing(provider, shut, 'credential_sealed')
      } else if (state === 'failing') {
        if (code === 'credential_sealed') await this.#reopen(provider)
        else void this.#recheck(provider.id)
      }
    }
  }

  stop(): void {
    this.#stopped = true
    for (const { timer } of this.#timers.values()) clearTimeout(timer)
    this.#timers.clear()
  }

  async check(kind: ProviderKind, target: ProviderTarget, credential: Secret | null): Promise<CheckResult> {
    // Like the transport, loaded with the first check: many a gateway starts with nothing to check.
    const { checkProvider } = await import('../../providers/check.ts')
    return checkProvider(kind, target, credential, kind.transport ?? (await this.#ports.transport()))
  }

  /** What traffic saw: believed at once where it is certain, checked where it is not. */
  async onTraffic(event: TrafficEvent): Promise<void> {
    switch (event.type) {
      case 'provider-answered': {
        const provider = await this.#ports.store.providers.find(event.providerId)
        return provider === null ? undefined : this.#setReady(provider, null)
      }
      case 'calls-failing':
        return this.#checkSoon(event.providerId, () => this.#verify(event.providerId))
      case 'credential-suspect': {
        const { providerId, credentialId, reason } = event
        return this.#checkSoon(`${providerId} ${credentialId}`, () => this.#prove(providerId, credentialId, reason))
      }
      case 'quota-exhausted': {
        const provider = await this.#ports.store.providers.find(event.providerId)
        if (provider === null || provider.readiness.state === 'failing') return
        // One of several credentials that cools down is no failure of the provider's.
        if (provider.revision.credentials.length > 1) return
        return this.#setFailing(provider, event.reason, 'quota_exhausted')
      }
    }
  }

  /** One check at a time for each thing that is in doubt, and at most one in 10 s: traffic goes on and asks again. */
  async #checkSoon(what: string, check: () => Promise<void>): Promise<void> {
    const now = performance.now()
    for (const [each, at] of this.#lately) if (now - at >= betweenChecksMs) this.#lately.delete(each)
    if (this.#lately.has(what) || this.#checking.has(what)) return
    this.#lately.set(what, now)
    this.#checking.add(what)
    try {
      await check()
    } finally {
      this.#checking.delete(what)
    }
  }

  /** Calls have failed repeatedly: does the provider answer at all? Where it does not, calls of everybody are kept away. */
  async #verify(providerId: string): Promise<void> {
    const provider = await this.#ports.store.providers.find(providerId)
    const kind = provider === null ? null : findKind(provider.kind)
    if (provider === null || kind === null || kind.check === null || provider.readiness.state === 'failing') return
    const result = await this.#checkAny(provider, kind, this.#ports.keyring)
    const now = await this.#readAgain(provider)
    if (now === null || now.readiness.state === 'failing') return
    if (result.ok) return this.#setReady(now, result.models)
    if (result.reason === 'credential_rejected') return this.#setFailing(now, result.message, result.reason)
    this.#ports.log.warn('calls to a provider fail, and so does its check', {
      provider: provider.name,
      reason: result.message,
    })
    this.#ports.pause(providerId)
  }

  /** A credential was rejected with a call: only where the check rejects it too is it the credential's fault. */
  async #prove(providerId: string, credentialId: string | null, reason: string | null): Promise<void> {
    const { store, keyring, log, coolDown } = this.#ports
    const provider = await store.providers.find(providerId)
    const kind = provider === null ? null : findKind(provider.kind)
    if (provider === null || kind === null || kind.check === null || provider.readiness.state === 'failing') return
    if (whyShut(provider, keyring) !== null) return
    const opened = openCredentials(provider, keyring)
    const index = opened.findIndex(({ id }) => id === credentialId)
    if (credentialId !== null && index < 0) return
    const result = await this.check(kind, targetOf(provider), opened[index]?.credential ?? null)
    const now = await this.#readAgain(provider)
    if (now === null || now.readiness.state === 'failing') return
    if (result.ok) {
      log.info('a call was rejected with a credential that passes its check', { provider: provider.name })
      return this.#setReady(now, result.models)
    }
    if (result.reason !== 'credential_rejected') return this.#ports.pause(providerId)
    if (opened.length > 1 && !coolDown(providerId, index, Date.now() + longestIntervalMs)) return
    await this.#setFailing(now, reason ?? result.message, 'credential_rejected')
  }

  /** After a check; null: what was found is of an address or credential that it no longer has, and says nothing of these. */
  async #readAgain({ id, revision }: Provider): Promise<Provider | null> {
    const now = await this.#ports.store.providers.find(id)
    return now?.revision.number === revision.number ? now : null
  }

  /** Where nothing was known; what is known stays. */
  async #setReady(provider: Provider, models: CheckResult['models'] | null): Promise<void> {
    if (provider.readiness.state !== 'unchecked') return
    const since = new Date().toISOString()
    await this.#ports.store.providers.setReadiness(provider.id, { state: 'ready', reason: null, since }, models)
    await this.#ports.publish()
  }

  async #setFailing(provider: Provider, reason: string, code: string | null): Promise<void> {
    const { store, log, publish } = this.#ports
    log.warn('provider is failing', { provider: provider.name, reason })
    await store.providers.setReadiness(
      provider.id,
      { state: 'failing', reason, code, since: new Date().toISOString() },
      null,
    )
    // Whatever becomes of the publication: a provider that is failing stays so until a check says otherwise.
    if (!this.#timers.has(provider.id)) this.#schedule(provider.id, firstIntervalMs)
    await publish()
  }

  /** The right machine key is back: nothing more is known against the provider. */
  async #reopen(provider: Provider): Promise<void> {
    const since = new Date().toISOString()
    await this.#ports.store.providers.setReadiness(provider.id, { state: 'unchecked', reason: null, since }, null)
    await this.#ports.publish()
    void this.#recheck(provider.id)
  }

  #schedule(providerId: string, intervalMs: number): void {
    if (this.#stopped) return
    clearTimeout(this.#timers.get(providerId)?.timer)
    const timer = setTimeout(() => void this.#recheck(providerId), intervalMs).unref()
    this.#timers.set(providerId, { timer, intervalMs })
  }

  async #recheck(providerId: string): Promise<void> {
    const intervalMs = this.#timers.get(providerId)?.intervalMs ?? firstIntervalMs
    // The check in progress is another one, of calls that failed: it brings no provider back.
    if (this.#checking.has(providerId)) return this.#schedule(providerId, intervalMs)
    this.#checking.add(providerId)
    try {
      await this.#checkOnce(providerId)
    } catch (error) {
      if (this.#stopped) return
      this.#schedule(providerId, intervalMs)
      this.#ports.log.error('check failed', {
        provider: providerId,
        reason: errorText(error),
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
    const now = await this.#readAgain(provider)
    if (now === null) return this.#schedule(providerId, firstIntervalMs)
    if (!result.ok) {
      if (now.readiness.state !== 'failing') await this.#setFailing(now, result.message, result.reason)
      else this.#schedule(providerId, Math.min(longestIntervalMs, (before ?? firstIntervalMs / 2) * 2))
      return
    }
    markReady(providerId)
    if (now.readiness.state === 'ready') return
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
    const target = targetOf(provider)
    const shut = whyShut(provider, keyring)
    if (shut !== null) return { ok: false, reason: 'credential_sealed', message: shut, models: [] }
    const credentials = openCredentials(provider, keyring).map(({ credential }) => credential)
    let result = await this.check(kind, target, credentials[0] ?? null)
    for (const credential of credentials.slice(1)) if (!result.ok) result = await this.check(kind, target, credential)
    return result
  }
}

function targetOf({ name, revision }: Provider): ProviderTarget {
  return { name, baseUrl: revision.baseUrl, settings: revision.settings }
}
