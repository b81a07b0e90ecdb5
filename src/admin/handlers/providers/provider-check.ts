import { newId } from '../../../core/ids.ts'
import { Secret } from '../../../core/secrets/secret.ts'
import type { CheckResult, ProviderKind } from '../../../providers/contract.ts'
import { credentialProblem, openCredential, readJsonCredential, textOf } from '../../../providers/credential.ts'
import type { Provider, SealedCredential } from '../../../store/api.ts'
import type { ProviderModel, Readiness } from '../../../store/configuration/snapshot.ts'
import type { AdminContext } from '../context.ts'
import { invalid, refused } from '../fault.ts'

/** What a check found, as it is kept. */
export interface Found {
  readiness: Readiness
  /** null: not learnt now; what was known stays. */
  models: ProviderModel[] | null
}

type Target = { name: string; kind: string; revision: Pick<Provider['revision'], 'baseUrl' | 'settings'> }

export async function check(
  context: AdminContext,
  kind: ProviderKind,
  { name, revision }: Target,
  credential: Secret | null,
): Promise<CheckResult> {
  const { baseUrl, settings } = revision
  if (kind.check === null)
    return { ok: true, reason: null, message: 'There is nothing to check.', models: [...(kind.fixedModels ?? [])] }
  return context.runtime.check(kind, { name, baseUrl, settings }, credential)
}

export function found(result: CheckResult): Found {
  const since = new Date().toISOString()
  return result.ok
    ? { readiness: { state: 'ready', reason: null, since }, models: result.models }
    : { readiness: { state: 'failing', reason: result.message, code: result.reason, since }, models: null }
}

export const unchecked = (): Found => ({
  readiness: { state: 'unchecked', reason: null, since: new Date().toISOString() },
  models: null,
})

/** The check that stands before a change: a failed one refuses the command, and nothing is stored. */
export async function checkFirst(
  context: AdminContext,
  kind: ProviderKind,
  target: Target,
  credential: Secret | null,
  skip: boolean,
): Promise<Found> {
  if (skip && kind.check !== null) return unchecked()
  const result = await check(context, kind, target, credential)
  if (result.ok) return found(result)
  const fault = refused(
    `The check of ${target.name} failed: ${result.message}`,
    'Fix it, or store it without a check: --skip-check.',
  )
  Object.assign(fault.data, { reason: result.reason })
  throw fault
}

/** Sealed to the row it will stand in; moved to another it does not open. `id`: of the one that it replaces. */
export function sealCredential(
  { keyring }: Pick<AdminContext, 'keyring'>,
  providerId: string,
  credential: Secret,
  id = newId('cre'),
): SealedCredential {
  const sealed = keyring.seal(credential.reveal(), credentialIdentity(providerId, id))
  return { id, sealed, lastFour: lastFour(credential), addedAt: new Date().toISOString() }
}

export function openSealed(
  { keyring }: Pick<AdminContext, 'keyring'>,
  providerId: string,
  credential: SealedCredential,
): Secret {
  return keyring.open(credential.sealed, credentialIdentity(providerId, credential.id))
}

const credentialIdentity = (providerId: string, id: string) => `credential:${providerId}:${id}`

/** Of a short credential nothing is shown: four characters would be too much of it. A document shows what it is known by. */
export function lastFour(credential: Secret): string {
  const { own } = openCredential(credential)
  const document = own && readJsonCredential(own)
  const known = document && Object.keys(document).find((member) => /^(access_key|private_key|client)_id$/.test(member))
  const text = document === null ? (own?.reveal() ?? '') : textOf(document, known ?? '')
  return text.length >= 12 ? text.slice(-4) : ''
}

/** Pipes add a line end, which belongs to no credential; anything else that no header can carry is refused, but for a document. */
export function readCredential(text: string | undefined): Secret | null {
  if (text === undefined) return null
  const trimmed = text.trim()
  if (trimmed === '')
    throw invalid('The credential is empty.', 'Give it with --credential-stdin or --credential-env VAR.')
  if (!trimmed.startsWith('{') && /[^\x21-\x7e]/.test(trimmed))
    throw invalid(
      'The credential contains spaces, line breaks or characters outside ASCII.',
      'Give one credential and nothing else.',
    )
  return new Secret(trimmed)
}

/** Whether it is of a form that the kind can use. */
export function checkForm(kind: ProviderKind, credential: Secret | null): void {
  const found = credential === null ? null : credentialProblem(kind, credential)
  if (found !== null) throw invalid(found.problem, found.hint)
}
