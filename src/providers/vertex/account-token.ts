import type { LaneName } from '../../core/lane.ts'
import type { TokenSource } from '../access-token.ts'
import type { ProviderTarget } from '../contract.ts'
import { renderAnthropicError } from '../wire/anthropic-hosted.ts'
import type { JsonObject } from '../wire/json.ts'
import { credentialRefused } from './machine-way.ts'

/** Tokens for a stored credential of any of the kinds that Google has. */
export function googleToken(document: JsonObject, provider: ProviderTarget, lane: LaneName): TokenSource {
  return {
    key: `google ${provider.baseUrl} ${'authorities' in provider.settings} ${JSON.stringify(provider.settings.proxy)} ${JSON.stringify(document)}`,
    // Loaded with the first sale: it is of use to nobody else.
    sale: async (ask) => (await import('./sell-token.ts')).sellToken(document, ask, provider),
    refusal(reason) {
      const message = `${credentialRefused} (${reason}).`
      const google = { error: { code: 401, message, status: 'UNAUTHENTICATED' } }
      const body =
        lane === 'anthropic'
          ? renderAnthropicError('authentication_error', message)
          : Buffer.from(JSON.stringify(google))
      return { headers: ['content-type', 'application/json'], body }
    },
  }
}
