import type { Keyring } from '../sealing/keyring.ts'
import type { StoreClient } from '../store/api.ts'
import type { Operator, SessionOfOperator } from '../store/operators/operator-tables.ts'
import { Failures } from './failures.ts'
import { takeLink } from './links.ts'
import type { AskProvider } from './oidc-settings.ts'
import { verifyPassword } from './password-hash.ts'
import type { RequestOrigin } from './place.ts'
import { SignInRefused } from './refusal.ts'
import { type BegunSession, beginSession, endSession, findSession, isAlive } from './sessions.ts'
import { type SignInAttempt, Throttle } from './throttle.ts'
import { takeCode } from './totp.ts'

export interface SignInParts {
  store: StoreClient
  keyring: Keyring
  askProvider: AskProvider
  onFault(error: unknown): void
}

export interface PasswordInput {
  name: string
  password: string
  /** Of the authenticator. */
  code: string | null
}

/** The ways in, and what guards all of them. Every method throws `SignInRefused` for who may not. */
export class SignIn {
  readonly parts: SignInParts
  readonly throttle = new Throttle()
  readonly failures: Failures

  constructor(parts: SignInParts) {
    this.parts = parts
    this.failures = new Failures(parts.store, parts.onFault)
  }

  find(token: string): Promise<SessionOfOperator | null> {
    return findSession(this.parts.store, token)
  }

  /** A session that was found before, as it is now; null: it is over. */
  async recheck(tokenSha256: string): Promise<SessionOfOperator | null> {
    const found = await this.parts.store.sessions.find(tokenSha256)
    return found !== null && isAlive(found) ? found : null
  }

  async end(session: SessionOfOperator): Promise<void> {
    await endSession(this.parts.store, session)
  }

  async withPassword({ name, password, code }: PasswordInput, place: RequestOrigin): Promise<BegunSession> {
    const { store } = this.parts
    const operator = await store.operators.find(name)
    // Name and id lead to the same one: two counts would be twice as many guesses.
    const attempt = this.throttle.begin(operator?.name ?? name, place.address)
    const right = await verifyPassword(password, operator?.passwordHash ?? null)
    if (!right || operator === null) throw this.fail(operator, 'password', place, wrongPassword())
    if (operator.totpSealed !== null) await this.#checkCode(operator, code, place, attempt)
    attempt.succeed()
    return await beginSession(store, operator, 'password', place)
  }

  async withLink(token: string, place: RequestOrigin): Promise<BegunSession> {
    const attempt = this.throttle.begin(null, place.address)
    const operator = await takeLink(this.parts.store, token).catch((error: unknown) => {
      throw error instanceof SignInRefused ? this.fail(null, 'link', place, error) : error
    })
    attempt.succeed()
    return await beginSession(this.parts.store, operator, 'link', place)
  }

  /** Notes the failure for the audit, and gives the refusal back. */
  fail(operator: Operator | null, method: string, place: RequestOrigin, refusal: SignInRefused): SignInRefused {
    this.failures.note(operator, method, place.address)
    return refusal
  }

  async #checkCode(
    operator: Operator,
    code: string | null,
    place: RequestOrigin,
    attempt: SignInAttempt,
  ): Promise<void> {
    if (code === null) {
      // The page asks for it next. What was counted before stays counted, else codes could be guessed in between.
      attempt.cancel()
      throw new SignInRefused('code_required', 'A code is required.', 'Enter the code that the authenticator shows.')
    }
    if (await takeCode(this.parts, operator, code)) return
    const hint = 'Enter the code that the authenticator shows now; each code works once.'
    throw this.fail(operator, 'password', place, new SignInRefused('wrong', 'The code is wrong.', hint))
  }
}

/** The same for a name that is not there: nobody learns which names are. */
function wrongPassword(): SignInRefused {
  const hint = "On the gateway's machine, this command always lets you sign in: spgw console link"
  return new SignInRefused('wrong', 'The name or password is wrong.', hint)
}
