import type { AttemptSums } from '../../../store/api.ts'
import type { AdminContext } from '../context.ts'

const hourMs = 3_600_000
/** A reading is good for so many times as long as it took: however busy the hour, this takes a twentieth of the store's time at most. */
const goodFor = 20

interface CachedHour {
  rows: Promise<Map<string, AttemptSums>>
  /** Milliseconds of the process; it is under way until the first is known. */
  goodUntil: number
}

/** By gateway, and by what of it a caller may see. */
const readings = new WeakMap<AdminContext['keyring'], Map<string, CachedHour>>()

/** Sums of the last hour by name of the provider. Shown beside every provider, after every change of one. */
export async function readLastHour(
  { store, keyring, scope }: Pick<AdminContext, 'store' | 'keyring' | 'scope'>,
  now = Date.now(),
): Promise<Map<string, AttemptSums>> {
  const known = readings.get(keyring) ?? new Map<string, CachedHour>()
  readings.set(keyring, known)
  const name = scope.seen === null ? '' : [...scope.seen].sort().join(' ')
  const before = known.get(name)
  if (before !== undefined && performance.now() < before.goodUntil) return await before.rows
  const begun = performance.now()
  const since = new Date(now - hourMs).toISOString()
  const rows = store.records.attempts({ since, limit: 1 })
  const reading: CachedHour = {
    rows: rows.then((found) => new Map(found.map((row) => [row.provider, row]))),
    goodUntil: Number.POSITIVE_INFINITY,
  }
  known.set(name, reading)
  try {
    return await reading.rows
  } catch (error) {
    known.delete(name)
    throw error
  } finally {
    reading.goodUntil = performance.now() + goodFor * (performance.now() - begun)
  }
}
