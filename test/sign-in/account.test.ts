import { Secret, TOTP } from 'otpauth'
import { describe, expect, it, vi } from 'vitest'
import { Account } from '../../src/sign-in/account.ts'
import { mintLink } from '../../src/sign-in/links.ts'
import { findStep } from '../../src/sign-in/totp.ts'
import { password, placeAt, refusedWith, startDesk, stopClock } from './start-desk.ts'

const place = placeAt('203.0.113.7')
const codeOf = (secret: string, timestamp = Date.now()) =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp })

async function signedIn() {
  const desk = await startDesk()
  await desk.addOperator('anna')
  const account = new Account(desk.signIn)
  const enter = (code: string | null = null) => desk.signIn.withPassword({ name: 'anna', password, code }, place)
  const { token } = await enter()
  const who = await desk.signIn.find(token)
  if (who === null) throw new Error('there is no session')
  const again = async () => (await desk.signIn.find(token)) ?? who
  return { ...desk, account, token, who, again, enter }
}

describe('a password', () => {
  it('is changed by whoever has the present one, and ends the other sessions', async () => {
    const { account, signIn, who, token, enter, audited } = await signedIn()
    const other = await enter()
    expect(await refusedWith(account.changePassword(who, 'not this one', 'a new password', place))).toBe('wrong')
    expect(await refusedWith(account.changePassword(who, password, 'short', place))).toBe('invalid')
    expect(await refusedWith(account.changePassword(who, password, 'aaaaaaaaaaaaaaa', place))).toBe('invalid')
    await account.changePassword(who, password, 'a new password', place)
    expect(await signIn.find(token)).not.toBeNull()
    expect(await signIn.find(other.token)).toBeNull()
    expect(await refusedWith(enter())).toBe('wrong')
    expect(JSON.stringify(await audited('account'))).not.toMatch(/argon2|a new password/)
  })

  it('is set without the present one by whoever came by a link', async () => {
    const { account, signIn, store, who } = await signedIn()
    const { path } = await mintLink(store, who.operator.id)
    const { token } = await signIn.withLink(path.replace('/link/', ''), place)
    const found = await signIn.find(token)
    if (found === null) throw new Error('there is no session')
    await account.changePassword(found, null, 'a new password', place)
    expect(await signIn.find(token)).not.toBeNull()
  })
})

it('who came by a link is asked for the password after a quarter of an hour, also where the clock was set back', async () => {
  stopClock()
  const { account, signIn, store, who } = await signedIn()
  const { path } = await mintLink(store, who.operator.id)
  const { token } = await signIn.withLink(path.replace('/link/', ''), place)
  const came = Date.now()
  for (const minutes of [16, -16, -600]) {
    vi.setSystemTime(came + minutes * 60_000)
    const found = await signIn.find(token)
    if (found === null) throw new Error('there is no session')
    expect(await refusedWith(account.changePassword(found, null, 'a new password', place))).toBe('wrong')
  }
})

describe('an authenticator', () => {
  it('counts only once it has shown a code, and each code counts once', async () => {
    const { account, who, enter, again, store } = await signedIn()
    const { secret, uri } = await account.beginTotp(who)
    expect(uri).toContain('otpauth://totp/spgw:anna?')
    await enter()
    expect(await refusedWith(account.confirmTotp(who, '000000', place))).toBe('wrong')
    const code = codeOf(secret)
    await account.confirmTotp(who, code, place)
    expect((await store.operators.find('anna'))?.totpSealed).toMatch(/^sp1\./)
    expect(await refusedWith(enter())).toBe('code_required')
    expect(await refusedWith(enter(code))).toBe('wrong')
    const next = codeOf(secret, Date.now() + 30_000)
    await enter(next)
    expect(await refusedWith(enter(next))).toBe('wrong')
    expect(await refusedWith(account.removeTotp(await again(), next, place))).toBe('wrong')
  })

  it('is not guessed, neither when it is added nor when it is removed, whatever the password does', async () => {
    stopClock()
    const { account, signIn, who, again } = await signedIn()
    const { secret } = await account.beginTotp(who)
    const guesses = async (guess: () => Promise<void>) => {
      const codes: string[] = []
      for (let count = 0; count < 5; count++) codes.push(await refusedWith(guess()))
      return codes
    }
    expect(await guesses(() => account.confirmTotp(who, '000000', place))).toEqual(Array(5).fill('wrong'))
    expect(await refusedWith(account.confirmTotp(who, codeOf(secret), place))).toBe('throttled')

    const other = new Account(signIn)
    const made = await other.beginTotp(who)
    await other.confirmTotp(who, codeOf(made.secret), place)
    const known = await again()
    expect(await guesses(() => other.removeTotp(known, '000000', place))).toEqual(Array(5).fill('wrong'))
    await other.changePassword(known, password, 'a new password', place)
    expect(await refusedWith(other.removeTotp(known, '000000', place))).toBe('throttled')
  })

  it('lets nobody in whose secret was moved from another operator', async () => {
    const { account, who, addOperator, signIn, store } = await signedIn()
    const { secret } = await account.beginTotp(who)
    await account.confirmTotp(who, codeOf(secret), place)
    const { totpSealed = null } = (await store.operators.find('anna')) ?? {}
    await addOperator('eve', { totpSealed })
    const code = codeOf(secret, Date.now() + 30_000)
    expect(await refusedWith(signIn.withPassword({ name: 'eve', password, code }, place))).toBe('refused')
  })

  it('is forgiven half a minute, and no more', async () => {
    const secret = new Secret({ size: 20 }).base32
    const now = 1_800_000_000_000
    const at = (shift: number) => findStep(secret, codeOf(secret, now + shift), now)
    expect(await at(0)).toBe(60_000_000)
    expect(await at(-30_000)).toBe(59_999_999)
    expect(await at(30_000)).toBe(60_000_001)
    expect([await at(-60_000), await at(60_000)]).toEqual([null, null])
    expect(await findStep(secret, 'abcdef', now)).toBeNull()
  })

  it('is re-sealed with everything else', async () => {
    const { account, who, store } = await signedIn()
    const { secret } = await account.beginTotp(who)
    await account.confirmTotp(who, codeOf(secret), place)
    const everything = await store.seal.everything()
    const identity = `totp:${who.operator.id}`
    const found = everything.find((value) => value.identity === identity)
    await store.seal.replace(everything, [{ identity, before: found?.sealed ?? '', after: 'sp1.other' }])
    expect((await store.operators.find('anna'))?.totpSealed).toBe('sp1.other')
  })
})

it('a session is revoked by its own operator only', async () => {
  const { account, signIn, addOperator, who, token } = await signedIn()
  await addOperator('eve')
  const begun = await signIn.withPassword({ name: 'eve', password, code: null }, place)
  const eve = await signIn.find(begun.token)
  if (eve === null) throw new Error('there is no session')
  expect(await refusedWith(account.revokeSession(eve, who.session.id))).toBe('not_found')
  await account.revokeSession(who, who.session.id)
  expect(await signIn.find(token)).toBeNull()
})
