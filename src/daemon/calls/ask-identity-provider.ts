import type { EgressOptions, Transport } from '../../providers/contract.ts'
import { fetchWhole } from '../../providers/whole-answer.ts'
import { NoProviderAnswer, type ProviderQuestion } from '../../sign-in/oidc-settings.ts'

/** The largest there are, keys of providers with many tenants, have some ten kilobytes. */
const answerBytes = 1024 * 1024
const connectMs = 5000
const answerMs = 10_000

/** Its documents may name any address: link-local and metadata ones are refused. No proxy stands between. */
const egress: EgressOptions = { key: 'sign-in', proxy: 'direct', authorities: null, identity: null, allowPrivate: true }

/** One question to an identity provider. Redirects are not followed. */
export async function askIdentityProvider(
  transport: Transport,
  url: string,
  { method, headers, body }: ProviderQuestion,
): Promise<Response> {
  const { origin, pathname, search, protocol } = new URL(url)
  if (protocol !== 'https:' && protocol !== 'http:') throw new NoProviderAnswer(`${url} is not a web address`)
  const text = body === undefined || body === null ? null : String(body)
  const lines = Object.entries({ ...headers, 'accept-encoding': 'identity' }).flat()
  const bytes = text === null ? null : Buffer.from(text)
  const request = { method, origin, path: `${pathname}${search}`, headers: lines, body: bytes, connectMs, egress }
  const answer = await fetchWhole(transport, request, { bytes: answerBytes, milliseconds: answerMs })
  if (answer.outcome === 'too-slow')
    throw new NoProviderAnswer(`${origin} gave no answer within ${answerMs / 1000} seconds`)
  if (answer.outcome === 'too-large')
    throw new NoProviderAnswer(`the answer of ${origin} is larger than ${answerBytes} bytes`)
  // The transport's texts speak of providers of models.
  if (answer.outcome === 'failed')
    throw new NoProviderAnswer(`${origin}: ${answer.fault.message.replaceAll('provider', 'identity provider')}`)
  const { status } = answer
  if (status >= 500) throw new NoProviderAnswer(`${origin} answered ${status}`)
  const whole = status === 204 || status === 304 ? null : new Uint8Array(answer.body)
  return new Response(whole, { status, headers: Object.fromEntries(answer.headers) })
}
