import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Dispatcher } from '../admin/dispatch.ts'
import { Account } from '../sign-in/account.ts'
import { LateParts } from '../sign-in/late-parts.ts'
import type { OidcSettings } from '../sign-in/oidc-settings.ts'
import { SignIn, type SignInParts } from '../sign-in/sign-in.ts'
import { refuseHost, send } from './answer.ts'
import { answerApi } from './api.ts'
import { AppFiles } from './app-files.ts'
import { replyAuth } from './auth.ts'
import { LiveCalls } from './live-calls.ts'
import { replyFile } from './page.ts'
import { type Premises, readVisit } from './visit.ts'

export interface SiteParts extends SignInParts {
  version: string
  premises(): Premises
  /** null: nobody signs in through an identity provider. */
  oidc(): OidcSettings | null
  dispatcher(): Promise<Dispatcher>
  /** Who is being answered is known. */
  know(response: ServerResponse): void
}

/** All of the console but what machines read: the page, the ways in, the operations. Made when somebody first asks. */
export class Site {
  readonly #parts: SiteParts
  readonly #signIn: SignIn
  readonly #account: Account
  readonly #late: LateParts
  readonly #files = new AppFiles()
  readonly #live = new LiveCalls()

  constructor(parts: SiteParts) {
    this.#parts = parts
    this.#signIn = new SignIn(parts)
    this.#account = new Account(this.#signIn)
    this.#late = new LateParts(this.#signIn)
  }

  async answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const premises = this.#parts.premises()
    const visit = readVisit(request, premises)
    const { version, dispatcher, know } = this.#parts
    const shared = { signIn: this.#signIn, premises, version }
    if (path === '/api' || path.startsWith('/api/'))
      return await answerApi(request, response, visit, { ...shared, live: this.#live, dispatcher, know })
    if (visit === null) return send(request, response, refuseHost(path))
    if (path.startsWith('/auth/')) {
      const desk = { account: this.#account, late: this.#late, oidc: this.#parts.oidc() }
      const parts = { ...shared, ...desk, recheck: () => this.#live.recheck() }
      return send(request, response, await replyAuth(request, path, visit, parts))
    }
    send(request, response, replyFile(request, path, this.#files))
  }

  /** After a change of who may do what. */
  recheck(): Promise<void> {
    return this.#live.recheck()
  }

  close(): void {
    this.#live.endAll()
    this.#signIn.failures.close()
  }
}
