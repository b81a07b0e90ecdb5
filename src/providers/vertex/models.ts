import type { CheckResult } from '../contract.ts'
import { checkFailed, checkPassed, readModelList } from '../wire/check-reading.ts'
import { asString } from '../wire/json.ts'
import { readErrorBody } from '../wire/status.ts'
import { credentialRefused } from './machine-way.ts'

/** The list of Google's models. A token was bought before it was asked for, so the service account is known whatever it may do. */
export function readPublisherModels(status: number, body: Buffer): CheckResult {
  const { reason, message } = readErrorBody(body)
  // The gateway's own words, which say more than that it was refused.
  if (status === 401 && message.startsWith(credentialRefused)) return checkFailed('credential_rejected', message)
  if (status === 403 && reason === 'SERVICE_DISABLED') {
    return checkFailed('unexpected', 'The Vertex AI API is off in the project; enable aiplatform.googleapis.com.')
  }
  if (status === 403 && /publisherModels/i.test(message)) {
    return checkPassed([], 'Google knows the service account, but it may not list models; name them in routes.')
  }
  return readModelList(status, body, 'publisherModels', (entry) => {
    const name = asString(entry.name).replace(/^.*\//, '')
    return name === '' ? null : { name, contextTokens: null, outputTokens: null }
  })
}
