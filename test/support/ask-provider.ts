import { askIdentityProvider } from '../../src/daemon/calls/ask-identity-provider.ts'
import { createHttpTransport } from '../../src/providers/http.ts'
import type { AskProvider } from '../../src/sign-in/oidc-settings.ts'

const transport = createHttpTransport()

/** As the daemon asks an identity provider. */
export const askProvider: AskProvider = (url, question) => askIdentityProvider(transport, url, question)
