import { statfs } from 'node:fs/promises'
import type { Runtime } from '../../admin/handlers/context.ts'
import { readCertificate } from '../../config/certificate.ts'
import type { Settings } from '../../config/settings.ts'
import { SettingsRefused } from '../../config/settings-refused.ts'
import { limitAt, shownAmount } from '../../core/policies/policy-limits.ts'
import { isoTime } from '../../core/text/flat-text.ts'
import { accountLimits } from '../../policy/limits/account-limits.ts'
import { Periods } from '../../policy/limits/periods.ts'
import { listBudgets } from '../../policy/limits/place-limits.ts'
import { showProviderState } from '../../routing/shown-state.ts'
import type { BudgetFigures, Expiry, Observed } from './conditions.ts'

const dayMs = 24 * 3600_000

/** The files of both listeners' certificates. */
export type CertificateFiles = Record<'gateway' | 'console', Pick<Settings['gateway'], 'tls'>>

type Watched = Pick<Runtime, 'snapshot' | 'limitUsage' | 'health' | 'dataDirectory'>

/** What the gateway shows of itself on every surface, from memory; the disk and the certificates are looked at. */
export async function observe(
  runtime: Watched,
  settings: CertificateFiles,
  traffic: Observed['traffic'],
  now = Date.now(),
): Promise<Observed> {
  const { configuration, keys } = runtime.snapshot()
  const providers = configuration.providers
    .filter(({ active }) => active)
    .map(({ id, name, slot, credentials, readiness }) => {
      const state = showProviderState(readiness, runtime.health(slot, credentials.length))
      return { id, name, state }
    })
  // A key that expired long ago is no news; what it has left of a rotation's grace is not its end.
  const ends = new Map<string, Expiry>()
  for (const { id, name, project, environment, expiresAt, revokedAt } of keys) {
    const isLive = revokedAt === null && (expiresAt === null || expiresAt > now - dayMs)
    const known = ends.get(id)?.at ?? 0
    const at = Math.max(known, expiresAt ?? Number.POSITIVE_INFINITY)
    if (isLive) ends.set(id, { resource: `key:${project}/${environment}/${name}`, at })
  }
  const finite = [...ends.values()].filter(({ at }) => Number.isFinite(at))
  return {
    now,
    budgets: findBudgets(runtime, now),
    providers,
    traffic,
    disk: await readDisk(runtime.dataDirectory),
    expiries: [...finite, ...readCertificateEnds(settings)],
  }
}

function findBudgets(runtime: Watched, now: number): BudgetFigures[] {
  const { providers, timeZone } = runtime.snapshot().configuration
  const periods = new Periods()
  const accounts = providers.flatMap((provider) => accountLimits(provider) ?? [])
  const limits = [...listBudgets(runtime.snapshot()).map(({ limit }) => limit), ...accounts]
  return limits.flatMap((limit): BudgetFigures[] => {
    const { counter, policy, scope, kind, period } = limit
    const { used, resetsAt } = runtime.limitUsage(limit)
    if (period === null || resetsAt === null || (kind !== 'usd' && kind !== 'tokens')) return []
    const amounts = { used: shownAmount(kind, used), limit: shownAmount(kind, limitAt(limit, now)) }
    const periodName = periods.at(period, timeZone, now).name
    return [{ counter, policy, scope, kind, period, periodName, ...amounts, resetsAt: isoTime(Math.round(resetsAt)) }]
  })
}

async function readDisk(directory: string): Promise<Observed['disk']> {
  try {
    const { bavail, blocks, bsize } = await statfs(directory)
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
  } catch {
    // A disk that cannot be asked shows as a degraded part.
    return null
  }
}

/** As they are in the files: those that a reload refused say so themselves. */
function readCertificateEnds(settings: CertificateFiles): Expiry[] {
  return (['gateway', 'console'] as const).flatMap((name) => {
    const { tls } = settings[name]
    if (tls === null) return []
    try {
      const { leaf } = readCertificate(`${name}.tls`, tls)
      return [{ resource: `certificate:${name}`, at: leaf.validToDate.getTime() }]
    } catch (error) {
      if (error instanceof SettingsRefused) return []
      throw error
    }
  })
}
