import { quote } from '../../core/text/quote.ts'
import type { ProviderTarget } from '../contract.ts'

const uris = new Set(['fileuri', 'file_uri', 'uri'])
/** Of the tool `retrieval`. */
const stores = new Set(['data_store', 'datastore', 'engine', 'ragcorpora', 'ragcorpus', 'rag_corpora', 'rag_corpus'])

/** Google reads these as the service account, whose rights are not the client's; what is readable by all needs no account. */
export function deniesResource(
  { name: provider, settings }: ProviderTarget,
  name: string,
  parent: string,
  text: { readId(): string },
): string | null {
  // The account signs in there, or a secret of its project is sent.
  if (parent === 'externalapi' || parent === 'external_api')
    return 'The tool `retrieval.externalApi` would act for the account of the gateway: leave it out.'
  const isUri = uris.has(name)
  if (!isUri && !stores.has(name)) return null
  const named = text.readId().replace(/^[\s\p{C}]+/u, '')
  if ((isUri && !/^gs\s*:/i.test(named)) || isAllowed(named, settings.cloud_resources)) return null
  const shown = quote(named.slice(0, 200))
  return `Provider ${provider} may not read ${shown} for its clients: send the content itself, or ask the operator to add it to --cloud-resources.`
}

/** A beginning that ends within a name is none: `gs://logs` is not `gs://logs-of-others`. */
function isAllowed(named: string, setting: unknown): boolean {
  if (typeof setting !== 'string') return false
  return setting
    .split(',')
    .map((each) => each.trim())
    .some(
      (each) =>
        each !== '' && named.startsWith(each) && (each.endsWith('/') || /^(?:\/|$)/.test(named.slice(each.length))),
    )
}
