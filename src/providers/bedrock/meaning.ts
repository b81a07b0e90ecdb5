import type { AnswerHead, Meaning } from '../contract.ts'
import { classifyStatus } from '../wire/status.ts'

/** What is certain about the credential; any other 403 may be about the one model. */
const refused = new Set([
  'UnrecognizedClientException',
  'InvalidSignatureException',
  'ExpiredTokenException',
  'InvalidClientTokenId',
  'IncompleteSignatureException',
  'MissingAuthenticationTokenException',
])

/** The exception's name stands in a header, behind it sometimes the address of its model. */
export function classifyBedrock(answer: AnswerHead, body: Buffer): Meaning {
  const type = (answer.headers.get('x-amzn-errortype') ?? '').split(':')[0] ?? ''
  return classifyStatus(answer, body, (status) => {
    if (refused.has(type)) return { verdict: 'credential-rejected' }
    // ModelErrorException: the model itself failed, not the request.
    return status === 424 ? { verdict: 'retry', retryAfterMs: null } : null
  })
}
