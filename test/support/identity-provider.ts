import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'
import { onTestFinished, vi } from 'vitest'

export interface IdentityProvider {
  issuer: string
  /** Lets the console at this address in as a client. */
  open(redirectUri: string): void
  /** What people are members of, by name. */
  groups: Record<string, string[]>
}

export const oidcClient = { id: 'spgw', secret: 'a client secret of some length' }

/** A real OpenID provider, where everybody signs in with a name and any password. `after` is told how it ends. */
export async function startIdentityProvider(
  after: (end: () => void) => void = onTestFinished,
): Promise<IdentityProvider> {
  // It warns of what is for development only: its keys and its pages.
  vi.spyOn(console, 'info').mockImplementation(() => {})
  vi.spyOn(console, 'warn').mockImplementation(() => {})
  let answer: RequestListener = (_request, response) => response.writeHead(503).end()
  const server = createServer((request, response) => answer(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const groups: IdentityProvider['groups'] = {}
  const open = (redirectUri: string) => {
    const provider = new Provider(issuer, {
      clients: [{ client_id: oidcClient.id, client_secret: oidcClient.secret, redirect_uris: [redirectUri] }],
      claims: { openid: ['sub'], profile: ['preferred_username', 'name', 'groups'], email: ['email'] },
      pkce: { required: () => true },
      cookies: { keys: ['a key of the test'] },
      findAccount: (_context: unknown, id: string) => ({
        accountId: id,
        claims: () => ({ sub: id, preferred_username: `${id}@example.com`, name: id, groups: groups[id] ?? [] }),
      }),
    })
    answer = provider.callback()
  }
  return { issuer, open, groups }
}

/** A browser that does what the provider's pages ask for: gives the address that it is sent back to. */
export async function passProvider(start: string, name: string, back: string): Promise<string> {
  const jar = new Map<string, string>()
  const go = async (url: string, form?: Record<string, string>): Promise<string> => {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...jar].map(([key, value]) => `${key}=${value}`).join('; ') },
      ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }),
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';', 1)
      jar.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1))
    }
    const location = response.headers.get('location')
    if (location === null) return await fill(url, await response.text(), form)
    const next = new URL(location, url).href
    return next.startsWith(back) ? next : await go(next)
  }
  const fill = async (url: string, page: string, before?: Record<string, string>): Promise<string> => {
    const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1]
    if (action === undefined || before !== undefined)
      throw new Error(`the provider shows no form: ${page.slice(0, 500)}`)
    const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1] ?? ''
    return await go(
      new URL(action, url).href,
      prompt === 'login' ? { prompt, login: name, password: 'any' } : { prompt },
    )
  }
  return await go(start)
}
