import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser'
import { callAuth } from '../../client/http.ts'

/** Loaded only when a passkey is used. */
const library = () => import('@simplewebauthn/browser')

export async function signInWithPasskey(): Promise<void> {
  const optionsJSON = await callAuth<PublicKeyCredentialRequestOptionsJSON>('/auth/passkey/options', {})
  const { startAuthentication } = await library()
  const answer = await startAuthentication({ optionsJSON }).catch(explain)
  await callAuth('/auth/passkey', answer)
}

export async function addPasskey(name: string): Promise<void> {
  const optionsJSON = await callAuth<PublicKeyCredentialCreationOptionsJSON>('/auth/account/passkeys/options', {})
  const { startRegistration } = await library()
  const answer = await startRegistration({ optionsJSON }).catch(explain)
  await callAuth('/auth/account/passkeys', { ...answer, name })
}

/** The browsers' own messages are written for developers. */
function explain(error: unknown): never {
  const name = error instanceof Error ? error.name : ''
  if (name === 'NotAllowedError') throw new Error('The passkey request was cancelled or timed out.')
  if (name === 'InvalidStateError') throw new Error('This device already has a passkey for this console.')
  throw error
}
