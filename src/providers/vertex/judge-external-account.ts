import { textOf } from '../credential.ts'
import { asObject, asString, type JsonObject } from '../wire/json.ts'
import { isGoogles } from './machine-way.ts'

const tokenTypes = ['urn:ietf:params:oauth:token-type:jwt', 'urn:ietf:params:oauth:token-type:id_token']

/** Why a document of the type external_account is not used; null where it is. docs/decisions/0042. */
export function judgeExternalAccount(document: JsonObject): string | null {
  const source = asObject(document.credential_source)
  if (source === undefined) return 'The document has no credential_source.'
  if ('executable' in source)
    return 'A credential_source that is a program is not used: the gateway runs nothing on the word of a configuration.'
  if ('environment_id' in source)
    return "A credential_source of AWS is not used; give the workload a token file, or use a service account's key."
  if ('certificate' in source) return 'A credential_source that is a client certificate is not used.'
  if (asString(source.file) === '' && asString(source.url) === '')
    return 'Its credential_source names neither a file nor a url.'
  if (!tokenTypes.includes(textOf(document, 'subject_token_type')))
    return 'Its subject_token_type is none that is used: signed tokens (jwt, id_token) are.'
  const urls = ['token_url', 'service_account_impersonation_url'].map((name) => textOf(document, name))
  return urls.every((url) => url === '' || isGoogles(url)) ? null : 'Its token_url leads elsewhere than to Google.'
}
