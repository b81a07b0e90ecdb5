import { describe, expect, it } from 'vitest'
import { mintLink } from '../../src/sign-in/links.ts'
import { hashToken } from '../../src/sign-in/token.ts'
import { password, placeAt, refusedWith, startDesk, stopClock } from './start-desk.ts'

const place = placeAt('203.0.113.7')
const tokenOf = (path: string) => path.replace('/link/', '')

describe('a password', () => {
  it('begins a session, of which only a hash is kept', async () => {
    const { signIn, store, addOperator, audited } = await startDesk()
    const { id } = await addOperator('anna')
    const { token } = await signIn.withPassword({ name: 'anna', password, code: null }, place)
    expect(await signIn.find(token)).toMatchObject({
      operator: { id, name: 'anna' },
      session: { method: 'password', address: place.address, tokenSha256: hashToken(token) },
    })
    expect(JSON.stringify(await store.sessions.list(null, new Date().toISOString()))).not.toContain(token)
    expect(await audited('console.sign-in')).toMatchObject([{ actor: 'anna', after: { method: 'password' } }])
    expect((await store.operators.find('anna'))?.lastSignInAt).not.toBeNull()
  })

  it('that is wrong is told like a name that is not there, and nobody’s name is written down', async () => {
    const { signIn, addOperator, audited } = await startDesk()
    await addOperator('anna')
    const wrong = signIn.withPassword({ name: 'anna', password: 'something else', code: null }, place)
    const unknown = signIn.withPassword({ name: 'my-secret-password', password, code: null }, place)
    const [left, right] = await Promise.allSettled([wrong, unknown])
    expect(left).toMatchObject({
      status: 'rejected',
      reason: { code: 'wrong', message: 'The name or password is wrong.' },
    })
    expect(right).toEqual(left)
    await expect.poll(async () => (await audited('console.sign-in-failed')).length).toBe(1)
    signIn.failures.close()
    await expect.poll(async () => (await audited('console.sign-in-failed')).length).toBe(2)
    const lines = JSON.stringify(await audited('console.sign-in-failed'))
    expect(lines).toContain('"failures":1')
    expect(lines).not.toContain('my-secret-password')
  })

  it('of an operator without one lets nobody in', async () => {
    const { signIn, addOperator } = await startDesk()
    await addOperator('anna', { passwordHash: null })
    expect(await refusedWith(signIn.withPassword({ name: 'anna', password: '', code: null }, place))).toBe('wrong')
  })

  it('is asked for more and more slowly, by name and by address', async () => {
    stopClock()
    const { signIn, addOperator } = await startDesk()
    await addOperator('anna')
    const guess = (name: string, address: string) =>
      refusedWith(signIn.withPassword({ name, password: 'a wrong guess', code: null }, placeAt(address)))
    const codes = []
    for (let number = 0; number < 7; number++) codes.push(await guess('anna', `203.0.113.${number}`))
    expect(codes).toEqual([...Array<string>(5).fill('wrong'), 'throttled', 'throttled'])
    // The right one has to wait as well: else the wait would tell which one is right.
    expect(
      await refusedWith(signIn.withPassword({ name: 'anna', password, code: null }, placeAt('203.0.113.99'))),
    ).toBe('throttled')
    const elsewhere = await Promise.all(
      Array.from({ length: 20 }, (_, number) => guess(`nobody-${number}`, '2001:db8::1')),
    )
    expect(elsewhere.filter((code) => code === 'wrong')).toHaveLength(15)
    expect(await guess('somebody', '2001:db8::ffff')).toBe('throttled')
  })

  it('is counted by operator, by whatever he is called', async () => {
    stopClock()
    const { signIn, addOperator } = await startDesk()
    const { id } = await addOperator('anna')
    const codes = []
    for (let number = 0; number < 6; number++) {
      const name = number % 2 === 0 ? id : 'anna'
      const guess = { name, password: 'a wrong guess', code: null }
      codes.push(await refusedWith(signIn.withPassword(guess, placeAt(`203.0.113.${number}`))))
    }
    expect(codes).toEqual([...Array<string>(5).fill('wrong'), 'throttled'])
  })

  it('of a disabled operator begins nothing, and his sessions are over at once', async () => {
    const { signIn, store, addOperator } = await startDesk()
    const { id } = await addOperator('anna')
    const { token } = await signIn.withPassword({ name: 'anna', password, code: null }, place)
    await store.operators.update(id, { state: 'disabled' })
    expect(await signIn.find(token)).toBeNull()
    expect(await refusedWith(signIn.withPassword({ name: 'anna', password, code: null }, place))).toBe('refused')
  })
})

describe('a session', () => {
  it('is over when it is ended, and another one stays', async () => {
    const { signIn, addOperator, audited } = await startDesk()
    await addOperator('anna')
    const first = await signIn.withPassword({ name: 'anna', password, code: null }, place)
    const second = await signIn.withPassword({ name: 'anna', password, code: null }, place)
    const found = await signIn.find(first.token)
    if (found === null) throw new Error('there is no session')
    await signIn.end(found)
    expect(await signIn.find(first.token)).toBeNull()
    expect(await signIn.find(second.token)).not.toBeNull()
    expect(await audited('console.sign-out')).toMatchObject([{ actor: 'anna' }])
  })

  it('ends after its time without use, and in any case in the end', async () => {
    const { signIn, store, addOperator } = await startDesk()
    await addOperator('anna')
    const { token } = await signIn.withPassword({ name: 'anna', password, code: null }, place)
    const { findSession } = await import('../../src/sign-in/sessions.ts')
    const hours = (count: number) => Date.now() + count * 3_600_000
    expect(await findSession(store, token, hours(13))).toBeNull()
    for (let hour = 10; hour < 720; hour += 10) expect(await findSession(store, token, hours(hour))).not.toBeNull()
    expect(await findSession(store, token, hours(721))).toBeNull()
  })

  it.each(['', 'x', '../../etc', 'A'.repeat(43), 'ü'.repeat(43)])('is not begun by the token %j', async (token) => {
    const { signIn } = await startDesk()
    expect(await signIn.find(token)).toBeNull()
  })
})

describe('a link', () => {
  it('makes the first owner, once', async () => {
    const { signIn, store, audited } = await startDesk()
    const [first, second] = [await mintLink(store, null), await mintLink(store, null)]
    const { operator } = await signIn.withLink(tokenOf(first.path), place)
    expect(operator).toMatchObject({ name: 'owner', grants: [{ project: null, role: 'owner' }] })
    expect(await refusedWith(signIn.withLink(tokenOf(first.path), place))).toBe('wrong')
    expect(await refusedWith(signIn.withLink(tokenOf(second.path), place))).toBe('refused')
    expect(await audited('operators.add')).toMatchObject([{ resource: { name: 'owner' }, after: { first: true } }])
  })

  it('of three that make the first owner, opened at once, makes one', async () => {
    const { signIn, store } = await startDesk()
    const tokens = []
    for (let number = 0; number < 3; number++) tokens.push(tokenOf((await mintLink(store, null)).path))
    const outcomes = await Promise.allSettled(
      tokens.map((token, at) => signIn.withLink(token, placeAt(`192.0.2.${at}`))),
    )
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
    expect(refused).toEqual(
      Array(2).fill(
        expect.objectContaining({ code: 'refused', message: expect.stringContaining('operators already') }),
      ),
    )
    expect(await store.operators.list()).toHaveLength(1)
  })

  it('of two who open it at once lets one in', async () => {
    const { signIn, store, addOperator } = await startDesk()
    const { id } = await addOperator('anna')
    const token = tokenOf((await mintLink(store, id)).path)
    const outcomes = await Promise.allSettled([signIn.withLink(token, place), signIn.withLink(token, place)])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  it('that is too old lets nobody in', async () => {
    const { signIn, store, addOperator } = await startDesk()
    const { id } = await addOperator('anna')
    const token = 'B'.repeat(43)
    const times = { createdAt: '2026-01-01T00:00:00.000Z', expiresAt: '2026-01-01T00:10:00.000Z' }
    await store.links.insert({ tokenSha256: hashToken(token), operatorId: id, ...times })
    expect(await refusedWith(signIn.withLink(token, place))).toBe('wrong')
  })
})
