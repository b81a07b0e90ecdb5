import { asString, type JsonObject, parseObject } from '../core/json/json-value.ts'
import { Secret } from '../core/secrets/secret.ts'
import type { ClientIdentity, JsonCredential, ProviderKind } from './contract.ts'

/** The parts of a stored credential: what authenticates to the provider, and what the connection is made with. */
export interface OpenedCredential {
  /** An API key, or a JSON credential of the kind; null when the client certificate is the only credential. */
  own: Secret | null
  identity: ClientIdentity | null
}

/**
 * Any credential may be JSON that has a client certificate in addition: `client_certificate` and `client_key` (PEM), and `credential`
 * for an API key.
 */
export function openCredential(stored: Secret): OpenedCredential {
  const document = readJsonCredential(stored)
  if (document === null) return { own: stored, identity: null }
  const { client_certificate: certificate, client_key: key, credential, ...own } = document
  if (certificate === undefined) return { own: stored, identity: null }
  const identity = { certificate: asString(certificate), key: asString(key) }
  if (typeof credential === 'string') return { own: new Secret(credential), identity }
  return { own: Object.keys(own).length === 0 ? null : new Secret(JSON.stringify(own)), identity }
}

/** The members of a JSON credential; null for an API key. */
export function readJsonCredential(credential: Secret): JsonObject | null {
  const text = credential.reveal()
  return text.startsWith('{') ? parseObject(Buffer.from(text)) : null
}

/** One text of a JSON credential; '' where it has none. */
export function textOf(document: JsonObject, member: string): string {
  return asString(document[member])
}

/** Why a kind cannot use a credential, in two sentences for the operator; null when it can. */
export function credentialProblem(kind: ProviderKind, stored: Secret): { problem: string; hint: string } | null {
  const { own, identity } = openCredential(stored)
  if (identity !== null) {
    const problem = identityProblem(identity)
    if (problem !== null) return { problem, hint: 'Give both as PEM: client_certificate and client_key.' }
  }
  if (own === null) return null
  const hint = `It takes ${describeForms(kind)}.`
  if (!own.reveal().startsWith('{'))
    return kind.apiKey === false ? { problem: `An API key is not a credential of the kind ${kind.kind}.`, hint } : null
  const document = readJsonCredential(own)
  if (document === null) return { problem: 'The credential begins like JSON and is not valid JSON.', hint }
  const type = textOf(document, 'type')
  const fits = kind.jsonCredentials?.find(
    (form) => form.members.every((member) => textOf(document, member) !== '') && (form.type ?? type) === type,
  )
  if (fits !== undefined) {
    const problem = fits.validate?.(document) ?? null
    return problem === null ? null : { problem, hint }
  }
  const what = type === '' ? 'This document' : `A document of the type ${JSON.stringify(type)}`
  return { problem: `${what} is not a credential of the kind ${kind.kind}.`, hint }
}

function identityProblem({ certificate, key }: ClientIdentity): string | null {
  if (!/^-----BEGIN CERTIFICATE-----/m.test(certificate)) return 'The client certificate is not a PEM certificate.'
  return /^-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/m.test(key)
    ? null
    : 'The client certificate has no PEM key beside it.'
}

/** `an API key, or a service account key (JSON with client_email, private_key)` */
function describeForms({ apiKey, jsonCredentials = [] }: ProviderKind): string {
  return [...(apiKey === false ? [] : ['an API key']), ...jsonCredentials.map(describeJson)].join(', or ')
}

export function describeJson({ title, members }: JsonCredential): string {
  return `${/^[aeiou]/.test(title) ? 'an' : 'a'} ${title} (JSON with ${members.join(', ')})`
}
