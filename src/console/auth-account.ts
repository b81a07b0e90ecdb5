import type { AuthAnswer, AuthCall, AuthRoute } from './auth-route.ts'
import { sessionOf, siteOf } from './auth-route.ts'
import { optionalText, textField } from './read-body.ts'

const forSignedIn = (method: AuthRoute['method'], handle: AuthRoute['handle']): AuthRoute => ({
  method,
  signedIn: true,
  handle,
})

/** Operators manage their own passwords, authenticators, passkeys and sessions. */
export const accountRoutes: Record<string, AuthRoute> = {
  '/auth/account': forSignedIn('GET', showAccount),
  '/auth/account/password': forSignedIn('POST', changePassword),
  '/auth/account/totp': forSignedIn('POST', beginTotp),
  '/auth/account/totp/confirm': forSignedIn('POST', confirmTotp),
  '/auth/account/totp/remove': forSignedIn('POST', removeTotp),
  '/auth/account/passkeys/options': forSignedIn('POST', createRegistrationOptions),
  '/auth/account/passkeys': forSignedIn('POST', addPasskey),
  '/auth/account/passkeys/remove': forSignedIn('POST', removePasskey),
  '/auth/account/sessions/revoke': forSignedIn('POST', revokeSession),
}

async function showAccount(call: AuthCall): Promise<AuthAnswer> {
  const { operator, session } = sessionOf(call)
  const { store } = call.signIn.parts
  const [passkeys, sessions] = await Promise.all([
    store.passkeys.list(operator.id),
    store.sessions.list(operator.id, new Date().toISOString()),
  ])
  return {
    value: {
      has_password: operator.passwordHash !== null,
      totp: operator.totpSealed !== null,
      oidc: operator.oidcIssuer,
      passkeys: passkeys.map(({ id, name, createdAt, lastUsedAt }) => ({
        id,
        name,
        created_at: createdAt,
        last_used_at: lastUsedAt,
      })),
      sessions: sessions.map((each) => ({
        id: each.id,
        method: each.method,
        address: each.address,
        user_agent: each.userAgent,
        created_at: each.createdAt,
        last_seen_at: each.lastSeenAt,
        expires_at: each.expiresAt,
        current: each.id === session.id,
      })),
    },
  }
}

async function changePassword(call: AuthCall): Promise<AuthAnswer> {
  const { account, body, source } = call
  await account.changePassword(sessionOf(call), optionalText(body, 'current'), textField(body, 'next'), source)
  return { taken: { id: null } }
}

async function beginTotp(call: AuthCall): Promise<AuthAnswer> {
  return { value: await call.account.beginTotp(sessionOf(call)) }
}

async function confirmTotp(call: AuthCall): Promise<AuthAnswer> {
  await call.account.confirmTotp(sessionOf(call), textField(call.body, 'code', 20), call.source)
  return { taken: { id: null } }
}

async function removeTotp(call: AuthCall): Promise<AuthAnswer> {
  await call.account.removeTotp(sessionOf(call), textField(call.body, 'code', 20), call.source)
  return {}
}

async function createRegistrationOptions(call: AuthCall): Promise<AuthAnswer> {
  const passkeys = await call.lazy.passkeys()
  return { value: await passkeys.newOptions(sessionOf(call), siteOf(call)) }
}

async function addPasskey(call: AuthCall): Promise<AuthAnswer> {
  const passkeys = await call.lazy.passkeys()
  const name = optionalText(call.body, 'name', 60) ?? 'passkey'
  const { id } = await passkeys.add(sessionOf(call), call.body, name, siteOf(call))
  return { value: { id, name } }
}

async function removePasskey(call: AuthCall): Promise<AuthAnswer> {
  const passkeys = await call.lazy.passkeys()
  await passkeys.remove(sessionOf(call), textField(call.body, 'id', 60))
  return { taken: { id: null } }
}

async function revokeSession(call: AuthCall): Promise<AuthAnswer> {
  const id = textField(call.body, 'id', 60)
  await call.account.revokeSession(sessionOf(call), id)
  return { taken: { id } }
}
