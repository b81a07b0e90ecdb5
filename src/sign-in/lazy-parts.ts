import type { Oidc } from './oidc.ts'
import type { OidcSettings } from './oidc-settings.ts'
import type { Passkeys } from './passkeys.ts'
import type { SignIn } from './sign-in.ts'

/** The ways in that need large libraries, loaded when somebody first takes them. */
export class LazyParts {
  readonly #signIn: SignIn
  #passkeys: Promise<Passkeys> | null = null
  #oidc: { settings: OidcSettings; made: Promise<Oidc> } | null = null

  constructor(signIn: SignIn) {
    this.#signIn = signIn
  }

  passkeys(): Promise<Passkeys> {
    this.#passkeys ??= import('./passkeys.ts').then(({ Passkeys }) => new Passkeys(this.#signIn))
    return this.#passkeys
  }

  /** Made anew for other settings: what was begun under the old ones has to begin anew too. */
  oidc(settings: OidcSettings): Promise<Oidc> {
    if (this.#oidc?.settings !== settings)
      this.#oidc = { settings, made: import('./oidc.ts').then(({ Oidc }) => new Oidc(this.#signIn, settings)) }
    return this.#oidc.made
  }
}
