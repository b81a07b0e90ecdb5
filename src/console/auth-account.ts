import type { AuthAnswer, AuthCall, AuthRoute } from './auth-route.ts'
import { sessionOf } from './auth-route.ts'

/** What the signed-in do with their own ways in. */
export const accountRoutes: Record<string, AuthRoute> = {
  '/auth/account': { method: 'GET', signedIn: true, handle: showAccount },
}

async function showAccount(call: AuthCall): Promise<AuthAnswer> {
  const { operator, session } = sessionOf(call)
  const { store } = call.signIn.parts
  const sessions = await store.sessions.list(operator.id, new Date().toISOString())
  return {
    value: {
      has_password: operator.passwordHash !== null,
      totp: operator.totpSealed !== null,
      passkeys: [],
      sessions: sessions.map((each) => ({ id: each.id, current: each.id === session.id })),
    },
  }
}
