import { asArray, asObject, asString, type JsonObject, parseJson } from '../../core/json/json-value.ts'
import type { CheckResult, ListedProviderModel } from '../contract.ts'
import { readErrorBody } from './status.ts'

export function checkPassed(models: ListedProviderModel[], message?: string): CheckResult {
  const count = models.length === 1 ? '1 model' : `${models.length} models`
  return {
    ok: true,
    reason: null,
    message: message ?? `The provider accepted the credential and lists ${count}.`,
    models,
  }
}

export function checkFailed(reason: NonNullable<CheckResult['reason']>, message: string): CheckResult {
  return { ok: false, reason, message, models: [] }
}

/**
 * Reads the answer to a request for the model list. `list` names the member that holds it, `model` reads one entry
 * (null skips it). A bare array is taken as well (Together).
 */
export function readModelList(
  status: number,
  body: Buffer,
  list: string,
  model: (entry: JsonObject) => ListedProviderModel | null,
): CheckResult {
  if (status !== 200) return readRefusal(status, body)
  const parsed = parseJson(body)
  const entries = Array.isArray(parsed) ? parsed : asObject(parsed)?.[list]
  if (!Array.isArray(entries)) {
    return checkFailed(
      'wrong_url',
      isPage(body)
        ? 'A web page answered instead of the API; check the base URL.'
        : 'The answer is not a model list; check the base URL and the kind.',
    )
  }
  const models = asArray(entries)
    .map((entry) => model(asObject(entry) ?? {}))
    .filter((entry) => entry !== null)
  return checkPassed(models)
}

function readRefusal(status: number, body: Buffer): CheckResult {
  const error = readErrorBody(body)
  if (status === 401 || error.reason === 'API_KEY_INVALID') {
    return checkFailed(
      'credential_rejected',
      'The provider refused the credential; check that it is complete and still valid.',
    )
  }
  if (status === 402) return checkFailed('unexpected', "The provider's account is out of credit; top it up.")
  // A restricted key may serve models without being allowed to list them.
  if (status === 403 && /missing scopes?:/i.test(error.message)) {
    return checkPassed([], 'The provider accepted the credential, but it may not list models; name them in routes.')
  }
  if (status === 403 && isPage(body)) {
    return checkFailed(
      'unexpected',
      'Something in front of the provider refused the call (403); check the network and the region.',
    )
  }
  if (status === 403) {
    return checkFailed(
      'credential_rejected',
      'The provider does not let this credential in (403); check its permissions and restrictions.',
    )
  }
  if (status === 404 || status === 405 || (status < 500 && isPage(body))) {
    return checkFailed('wrong_url', `Nothing answers at that path (${status}); check the base URL.`)
  }
  if (status >= 300 && status < 400) {
    return checkFailed('wrong_url', `The base URL redirects elsewhere (${status}); use the address it leads to.`)
  }
  if (status === 429)
    return checkFailed('unexpected', 'The provider is limiting requests just now (429); try again in a minute.')
  if (status >= 500) return checkFailed('unexpected', `The provider is in trouble (${status}); try again later.`)
  return checkFailed(
    'unexpected',
    `The provider answered ${status}, which a model list should not; check the base URL and the kind.`,
  )
}

function isPage(body: Buffer): boolean {
  return /^\s*</.test(body.subarray(0, 64).toString('latin1'))
}

/** A model's name from whichever member the vendor puts it in. */
export function readName(entry: JsonObject): string {
  return asString(entry.id) || asString(entry.name)
}
