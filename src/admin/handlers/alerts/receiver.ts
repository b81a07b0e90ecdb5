import { randomBytes } from 'node:crypto'
import { evaluateHost } from '../../../providers/address-guard.ts'
import type { Alert } from '../../../store/api.ts'
import type { AdminContext } from '../context.ts'
import { invalid } from '../fault.ts'

/** Where an alert sends to, and what its messages are signed with; null: they are not. Sealed as one. */
export interface SealedReceiver {
  url: string
  secret: string | null
}

/** Any address but those that belong to the machine or its cloud; where a name leads is checked with each call. */
export function checkUrl(url: string, format: Alert['format']): void {
  const parsed = URL.parse(url)
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || url.length > 2000)
    throw invalid('The URL is not an http or https address.', 'Write it as https://hooks.example.com/path.')
  if (parsed.username !== '' || parsed.password !== '')
    throw invalid('The URL holds a user name or password.', 'Messages are signed: verify the signature instead.')
  // A form that starts from what is shown may bring it back.
  if (url.includes('…'))
    throw invalid('The URL is shown shortened, and is not whole.', 'Give all of it, or leave the URL as it is.')
  // It refuses all else, and its path, which would be shown, is what keeps others from posting there.
  if (parsed.hostname === 'hooks.slack.com' && format !== 'slack')
    throw invalid('hooks.slack.com takes only messages of format slack.', 'Choose it: --format slack.')
  const { refused: reason } = evaluateHost(parsed.hostname, true)
  if (reason !== null) throw invalid(reason, 'Give the URL of a receiver that is not link-local.')
}

/** The path of a Slack-style hook is all that keeps others from posting there; a query may hold a token anywhere. */
export function shownUrl(url: string, format: Alert['format']): string {
  const { origin, pathname, search } = new URL(url)
  return format === 'slack' ? `${origin}/…` : `${origin}${pathname}${search === '' ? '' : '?…'}`
}

export function mintSigningSecret(format: Alert['format']): string | null {
  return format === 'slack' ? null : `whsec_${randomBytes(24).toString('base64')}`
}

export function sealReceiver({ keyring }: Pick<AdminContext, 'keyring'>, id: string, receiver: SealedReceiver): string {
  return keyring.seal(JSON.stringify(receiver), `alert:${id}`)
}

export function openReceiver(
  { keyring }: Pick<AdminContext, 'keyring'>,
  { id, sealed }: Pick<Alert, 'id' | 'sealed'>,
): SealedReceiver {
  return JSON.parse(keyring.open(sealed, `alert:${id}`).reveal()) as SealedReceiver
}
