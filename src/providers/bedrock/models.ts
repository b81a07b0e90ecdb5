import type { CheckResult } from '../contract.ts'
import { checkFailed, checkPassed, readModelList } from '../wire/check-reading.ts'
import { asObject, asString, parseJson } from '../wire/json.ts'

/** ListFoundationModels. A caller that may not list is told from one that is not let in by the words alone. */
export function readFoundationModels(status: number, body: Buffer): CheckResult {
  const whole = asObject(parseJson(body))
  const message = asString(whole?.message) || asString(whole?.Message)
  if (status === 403 && /not authorized to perform/i.test(message)) {
    return checkPassed([], 'Bedrock knows the credential, but it may not list models; name them in routes.')
  }
  if (status === 403) {
    const why = /expired/i.test(message) ? 'it has expired' : 'check key, secret and region'
    return checkFailed('credential_rejected', `Bedrock refused the credential: ${why}.`)
  }
  return readModelList(status, body, 'modelSummaries', (entry) => {
    const name = asString(entry.modelId)
    return name === '' ? null : { name, contextTokens: null, outputTokens: null }
  })
}
