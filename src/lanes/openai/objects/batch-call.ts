import type { Lane, Match } from '../../contract.ts'

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
