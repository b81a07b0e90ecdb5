import { asObject, asString, type JsonObject } from '../../core/json/json-value.ts'
import { metadataOrigin } from '../address-guard.ts'
import type { EgressOptions, ProviderTarget } from '../contract.ts'
import { textOf } from '../credential.ts'

/** How calls reach the metadata service: directly, through no proxy. Calls with other egress options cannot reach it. */
export const metadataService: { origin: string; egress: EgressOptions } = {
  origin: metadataOrigin,
  egress: { key: 'metadata', proxy: 'direct', authorities: null, identity: null, allowPrivate: false, metadata: true },
}

/** Over TLS to Google, or to this machine. */
export function isGoogles(url: string): boolean {
  const { protocol, hostname } = URL.parse(url) ?? { protocol: '', hostname: '' }
  if (hostname === '127.0.0.1' || hostname === '[::1]') return true
  return protocol === 'https:' && /^(?:[a-z0-9-]+\.)+googleapis\.com$/.test(hostname)
}

/**
 * Why the machine's own identity is not sent to this provider; null: it may be. The identity does not belong to whoever edits the
 * provider: they must not be able to send it to an address, a certificate authority or a plain-text proxy of their choice. `urls`:
 * what else it is sent to.
 */
export function machineIdentityProblem(
  { baseUrl, settings }: ProviderTarget,
  urls: readonly string[] = [],
): string | null {
  if (!isGoogles(baseUrl)) return "the base URL is not one of Google's"
  if (settings.authorities !== undefined) return "it is not used with a provider's own certificate authorities"
  const proxied = settings.proxy !== undefined && settings.proxy !== 'direct'
  if (proxied && [baseUrl, ...urls].some(isPlainText))
    return "it is not sent through a provider's own proxy without TLS"
  return settings.project === undefined ? 'no project is set for it' : null
}

function isPlainText(url: string): boolean {
  return url !== '' && URL.parse(url)?.protocol !== 'https:'
}

const tokenTypes = ['urn:ietf:params:oauth:token-type:jwt', 'urn:ietf:params:oauth:token-type:id_token']

/** Why a document of the type external_account cannot be used; null: it can. docs/decisions/0042. */
export function validateExternalAccount(document: JsonObject): string | null {
  const source = asObject(document.credential_source)
  if (source === null) return 'The document has no credential_source.'
  if ('executable' in source)
    return 'A credential_source that is a program is not used: the gateway runs nothing on the word of a configuration.'
  if ('environment_id' in source)
    return "A credential_source of AWS is not used; give the workload a token file, or use a service account's key."
  if ('certificate' in source) return 'A credential_source that is a client certificate is not used.'
  if (asString(source.file) === '' && asString(source.url) === '')
    return 'Its credential_source names neither a file nor a url.'
  if (!tokenTypes.includes(textOf(document, 'subject_token_type')))
    return 'Its subject_token_type is none that is used: signed tokens (jwt, id_token) are.'
  const elsewhere = ['token_url', 'service_account_impersonation_url'].find((name) => {
    const url = textOf(document, name)
    return url !== '' && !isGoogles(url)
  })
  return elsewhere === undefined ? null : `Its ${elsewhere} is not one of Google's.`
}
