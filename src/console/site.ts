import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Dispatcher } from '../admin/dispatch.ts'
import { Account } from '../sign-in/account.ts'
import { LazyParts } from '../sign-in/lazy-parts.ts'
import type { OidcSettings } from '../sign-in/oidc-settings.ts'
import { SignIn, type SignInParts } from '../sign-in/sign-in.ts'
import { handleApi } from './api.ts'
import { AppFiles, replyFile } from './app-files.ts'
import { replyAuth } from './auth.ts'
import type { AuthContext } from './auth-route.ts'
import { LiveCalls } from './live-calls.ts'
import { rejectHost, sendReply } from './reply.ts'
import { type GuardSettings, readSource } from './request-guard.ts'

export interface SiteParts extends SignInParts {
  version: string
  guardSettings(): GuardSettings
  /** null: no identity provider. */
  oidc(): OidcSettings | null
  dispatcher(): Promise<Dispatcher>
  confirmReach: AuthContext['confirmReach']
  /** The response goes to an authenticated client. */
  markAuthenticated(response: ServerResponse): void
}

/** The page, sign-in and the operations; all but the metrics and the OpenAPI document. Created with the first request. */
export class Site {
  readonly #parts: SiteParts
  readonly #signIn: SignIn
  readonly #account: Account
  readonly #lazy: LazyParts
  readonly #files = new AppFiles()
  readonly #live = new LiveCalls()

  constructor(parts: SiteParts) {
    this.#parts = parts
    this.#signIn = new SignIn(parts)
    this.#account = new Account(this.#signIn)
    this.#lazy = new LazyParts(this.#signIn)
  }

  async handle(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const guardSettings = this.#parts.guardSettings()
    const source = readSource(request, guardSettings)
    const { version, dispatcher, markAuthenticated, confirmReach } = this.#parts
    const shared = { signIn: this.#signIn, guardSettings, version }
    if (path === '/api' || path.startsWith('/api/'))
      return await handleApi(request, response, source, { ...shared, live: this.#live, dispatcher, markAuthenticated })
    if (source === null) return sendReply(request, response, rejectHost(path))
    if (path.startsWith('/auth/')) {
      const context = { account: this.#account, lazy: this.#lazy, oidc: this.#parts.oidc(), confirmReach }
      const parts = { ...shared, ...context, recheck: () => this.#live.recheck() }
      return sendReply(request, response, await replyAuth(request, path, source, parts))
    }
    sendReply(request, response, replyFile(request, path, this.#files))
  }

  /** After a change of permissions. */
  recheck(): Promise<void> {
    return this.#live.recheck()
  }

  close(): void {
    this.#live.endAll()
    this.#signIn.failures.close()
  }
}
