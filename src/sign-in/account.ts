import type { Session } from '../store/operators/operator-tables.ts'
import { operatorLine } from './audit-line.ts'
import { hashPassword, refuseWeak, verifyPassword } from './password-hash.ts'
import { PendingValues } from './pending.ts'
import type { RequestOrigin } from './place.ts'
import { SignInRefused } from './refusal.ts'
import type { SessionOfOperator } from './sessions.ts'
import type { SignIn } from './sign-in.ts'
import { Throttle } from './throttle.ts'
import { findStep, makeTotp, type NewTotp, takeCode, totpIdentity } from './totp.ts'

/** Whoever came by a link may set a password without the old one for so long: that is what the link is for. */
const freshMs = 15 * 60_000

/** What the signed-in do with their own ways in. Everything throws `SignInRefused`. */
export class Account {
  readonly #signIn: SignIn
  /** Secrets of authenticators that have shown no code yet, by operator. */
  readonly #unconfirmed = new PendingValues<string>(10 * 60_000)
  /** Each on its own: whoever knows one of them must not clear the way for guesses at another, or at the sign-in. */
  readonly #attempts = { password: new Throttle(), newCode: new Throttle(), code: new Throttle() }

  constructor(signIn: SignIn) {
    this.#signIn = signIn
  }

  /** Ends the operator's other sessions. */
  async changePassword(
    who: SessionOfOperator,
    current: string | null,
    next: string,
    place: RequestOrigin,
  ): Promise<void> {
    const { operator, session } = who
    if (operator.oidcIssuer !== null) {
      const hint = 'Change the password where you sign in.'
      throw new SignInRefused('refused', 'This operator signs in through the identity provider.', hint)
    }
    refuseWeak(next)
    if (operator.passwordHash !== null && !cameByLink(session)) await this.#checkCurrent(who, current, place)
    const passwordHash = await hashPassword(next)
    const line = operatorLine(operator, 'account.password', { session: session.id })
    await this.#tables(line).operators.update(operator.id, { passwordHash, keepSession: session.id })
  }

  /** Shown once; counts only when a code has shown that the authenticator has it. */
  async beginTotp({ operator }: SessionOfOperator): Promise<NewTotp> {
    if (operator.totpSealed !== null)
      throw new SignInRefused('refused', 'An authenticator is already set up.', 'Remove it first.')
    const made = await makeTotp(operator)
    this.#unconfirmed.put(operator.id, made.secret, operator.id)
    return made
  }

  async confirmTotp({ operator }: SessionOfOperator, code: string, place: RequestOrigin): Promise<void> {
    const secret = this.#unconfirmed.peek(operator.id)
    if (secret === null) throw new SignInRefused('refused', 'There is no setup to confirm.', 'Start again.')
    const attempt = this.#attempts.newCode.begin(operator.id, place.address)
    const step = await findStep(secret, code)
    if (step === null) throw wrongCode()
    attempt.succeed()
    this.#unconfirmed.take(operator.id)
    const totpSealed = this.#signIn.parts.keyring.seal(secret, totpIdentity(operator.id))
    const tables = this.#tables(operatorLine(operator, 'account.totp-add', {}))
    await tables.operators.update(operator.id, { totpSealed })
    await this.#signIn.parts.store.operators.takeTotpStep(operator.id, step)
  }

  /** A session alone must not do it: whoever found a browser open would. */
  async removeTotp({ operator }: SessionOfOperator, code: string, place: RequestOrigin): Promise<void> {
    if (operator.totpSealed === null)
      throw new SignInRefused('not_found', 'No authenticator is set up.', 'There is nothing to remove.')
    const attempt = this.#attempts.code.begin(operator.id, place.address)
    if (!(await takeCode(this.#signIn.parts, operator, code))) throw wrongCode()
    attempt.succeed()
    const tables = this.#tables(operatorLine(operator, 'account.totp-remove', {}))
    await tables.operators.update(operator.id, { totpSealed: null })
  }

  async revokeSession({ operator }: SessionOfOperator, id: string): Promise<void> {
    const now = new Date().toISOString()
    const sessions = await this.#signIn.parts.store.sessions.list(operator.id, now)
    if (!sessions.some((each) => each.id === id))
      throw new SignInRefused('not_found', 'This session does not exist.', 'It may have ended; reload the page.')
    const tables = this.#tables(operatorLine(operator, 'account.session-revoke', { session: id }))
    await tables.sessions.revoke([id], now)
  }

  async #checkCurrent({ operator }: SessionOfOperator, current: string | null, place: RequestOrigin): Promise<void> {
    const attempt = this.#attempts.password.begin(operator.id, place.address)
    if (await verifyPassword(current ?? '', operator.passwordHash)) return attempt.succeed()
    const refusal = new SignInRefused('wrong', 'The current password is wrong.', 'Enter your current password.')
    throw this.#signIn.fail(operator, 'password', place, refusal)
  }

  #tables(line: ReturnType<typeof operatorLine>) {
    return this.#signIn.parts.store.audited(line)
  }
}

function cameByLink({ method, createdAt }: Session): boolean {
  // Where the clock was set back, it is fresh for no longer than that.
  return method === 'link' && Math.abs(Date.now() - Date.parse(createdAt)) < freshMs
}

function wrongCode(): SignInRefused {
  return new SignInRefused('wrong', 'The code is wrong.', 'Enter the code that the authenticator shows now.')
}
