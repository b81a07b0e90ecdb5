import { ORPCError } from '@orpc/client'
import { describeUnset } from '../../../core/variables.ts'
import type { ManifestEntry, ManifestResource } from '../../../manifest/resource.ts'
import type { Alert } from '../../../store/api.ts'
import { checkUrl, shownUrl } from '../alerts/receiver.ts'
import type { AdminContext } from '../context.ts'
import type { ManifestProblems } from './manifest-problems.ts'

/**
 * What stands in a plan of an alert's URL is its fingerprint and what may be shown of it. Without its variable, an alert that
 * is there keeps its URL.
 */
export function prepareAlert(
  { keyring }: Pick<AdminContext, 'keyring'>,
  entry: ManifestEntry,
  current: ManifestResource | null,
  found: ManifestProblems,
): ManifestEntry {
  const { name, missing, credentials, placeOf, place } = entry
  const fields = { ...entry.fields }
  const prepared = { ...entry, fields }
  const at = placeOf.url ?? place
  const url = credentials?.[0]?.reveal() ?? null
  const format = (fields.format ?? current?.fields.format) === 'slack' ? 'slack' : 'webhook'
  if (missing.length > 0) {
    const message = `alert ${name}: ${describeUnset(missing)}`
    if (current !== null) found.notes.push(`${message}; its URL stays as it is`)
    else {
      found.unset.push({ place: at, message })
      fields.url = { unset: missing.join(', ') }
    }
  } else if (url === null) {
    if (current === null) found.problems.push({ place, message: `alert ${name}: a new alert needs its url` })
  } else {
    const reason = refusalOf(url, format)
    if (reason === null) fields.url = { fingerprint: keyring.fingerprint(url), shown: shownUrl(url, format) }
    else found.problems.push({ place: at, message: `alert ${name}: ${reason}` })
  }
  return prepared
}

function refusalOf(url: string, format: Alert['format']): string | null {
  try {
    checkUrl(url, format)
    return null
  } catch (error) {
    if (!(error instanceof ORPCError)) throw error
    return error.message.replace(/\.$/, '')
  }
}
