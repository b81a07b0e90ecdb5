import { ownValue } from '../core/own-value.ts'
import { quote } from '../core/text/quote.ts'
import type { ProviderTarget } from './contract.ts'

/**
 * Why a client may not write this text in a member of that name (both folded): the cloud would open what it names with the rights of the
 * gateway's account. Null: it may.
 */
export type DeniesName = (
  provider: ProviderTarget,
  name: string,
  parent: string,
  text: { readId(): string },
) => string | null

const uris = new Set(['fileuri', 'file_uri', 'uri'])
/** Of the tool `retrieval`. */
const stores = new Set(['data_store', 'datastore', 'engine', 'ragcorpora', 'ragcorpus', 'rag_corpora', 'rag_corpus'])

/** Google reads these as the service account, whose rights are not the client's; what is readable by all needs no account. */
const deniesResource: DeniesName = ({ name: provider, settings }, name, parent, text) => {
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

/** Of a `data_sources` entry: the identity is the resource's, and reads whatever the company lets it read. */
const deniesIdentity: DeniesName = (_provider, name, parent, text) =>
  name === 'type' && parent === 'authentication' && /managed_identity/i.test(text.readId())
    ? 'A data source may not be read with the managed identity of the resource; give it a credential of your own.'
    : null

/** By kind. Beside the kinds, since only data-plane threads need it. */
const rules: Readonly<Record<string, DeniesName>> = { 'azure-openai': deniesIdentity, vertex: deniesResource }

/** What holds for a provider of the kind; undefined: its cloud opens nothing for the gateway's account. */
export function deniesNameOf(kind: string): DeniesName | undefined {
  return ownValue(rules, kind)
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
