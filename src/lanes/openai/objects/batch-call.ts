import { type Fault, fault } from '../../../core/errors.ts'
import { scanObject } from '../../../core/json-scan.ts'
import type { Lane, Match } from '../../contract.ts'
import { readValue } from '../../json-value.ts'
import { refuseOdd } from '../../request-body.ts'

/**
 * What a batch's `endpoint` or a line's `url` means: a call of the lane that names its model in a JSON body; null: none such. One vendor
 * writes it without the version.
 */
export function findCall(url: unknown, { match }: Pick<Lane, 'match'>): Match | null {
  if (typeof url !== 'string') return null
  const found = match('POST', url.replace(/^\/v1(?=\/)/, ''))
  if (found === null) return null
  const { served, takes, model, media } = found.endpoint
  const asks = (model === 'body' || model === 'body-optional') && takes.includes('json') && found.object === null
  return served === 'provider' && asks && media === undefined ? found : null
}

/** What is uploaded in parts cannot be read as it passes, so that no batch could be made of it: better said before the parts are sent. */
export function refuseParts(body: Buffer): Fault | null {
  const scan = scanObject(body, ['purpose'])
  if (!scan.ok) return null
  const purposes = scan.members.map((member) => readValue(body, member))
  const forBatches = purposes.some((purpose) => typeof purpose === 'string' && purpose.startsWith('batch'))
  return forBatches ? inParts : refuseOdd(body, scan)
}

const inParts = fault(
  'invalid_request',
  'A file for batches is read line by line while it passes, which its parts, in any order, do not allow: upload it in one call, as a form to /v1/files with the purpose `batch`.',
  { param: 'purpose' },
)
