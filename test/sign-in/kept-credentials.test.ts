import { beforeEach, describe, expect, it } from 'vitest'
import { mintApiToken } from '../../src/core/secrets/api-token.ts'
import { findToken } from '../../src/sign-in/find-token.ts'
import { findFirstOperator, isOwner, takeLink } from '../../src/sign-in/links.ts'
import { refuseWeak } from '../../src/sign-in/password-hash.ts'
import { absoluteMs, findSession } from '../../src/sign-in/sessions.ts'
import { hashToken, isSame, isToken, mintToken } from '../../src/sign-in/token.ts'
import type { AuditLine, StoreClient } from '../../src/store/api.ts'
import type { Operator, Session } from '../../src/store/operators/operator-tables.ts'
import type { ApiToken } from '../../src/store/operators/token-tables.ts'
import { StoreConflict } from '../../src/store/store-error.ts'
import { refusedWith } from './start-desk.ts'

const start = Date.parse('2026-03-10T12:00:00Z')
const minuteMs = 60_000
const hourMs = 3600_000
const iso = (time: number) => new Date(time).toISOString()

const anna: Operator = {
  ...{ id: 'opr_1', name: 'anna', displayName: 'Anna', state: 'active', passwordHash: null, totpSealed: null },
  ...{ oidcIssuer: null, oidcSubject: null, grants: [{ project: null, role: 'owner' }] },
  ...{ createdAt: iso(start), lastSignInAt: null },
}

/** What of the store these questions need; what is touched is written down. */
class Store {
  readonly session: Session | null
  readonly token: ApiToken | null
  touched: [id: string, ...times: string[]][] = []
  isSick = false
  operators: Operator[] = [anna]
  linkOf: string | null = 'opr_1'
  inserted: [AuditLine, Operator][] = []
  conflict: Error | null = null

  constructor(session: Session | null, token: ApiToken | null) {
    this.session = session
    this.token = token
  }

  get client(): StoreClient {
    const touch = async (id: string, ...times: string[]) => {
      if (this.isSick) throw new Error('the disk is full')
      this.touched.push([id, ...times])
    }
    const sessions: Partial<StoreClient['sessions']> = {
      find: async () => this.session && { session: this.session, operator: anna },
      touch,
    }
    const tokens: Partial<StoreClient['tokens']> = { findByHash: async () => this.token, touch }
    const operators: Partial<StoreClient['operators']> = {
      list: async () => this.operators,
      find: async (id) => this.operators.find((each) => each.id === id) ?? null,
    }
    const links: Partial<StoreClient['links']> = {
      take: async (tokenSha256) => ({ tokenSha256, operatorId: this.linkOf, createdAt: '', expiresAt: '' }),
    }
    const audited = (line: AuditLine) => {
      const insert = async (operator: Operator) => {
        if (this.conflict !== null) throw this.conflict
        this.inserted.push([line, operator])
        return operator
      }
      return { operators: { insert } }
    }
    return { sessions, tokens, operators, links, audited } as unknown as StoreClient
  }
}

const secret = mintToken()
const session = (change: Partial<Session> = {}): Session => ({
  ...{ tokenSha256: hashToken(secret), id: 'ses_1', operatorId: 'opr_1', method: 'password', createdAt: iso(start) },
  ...{ lastSeenAt: iso(start), expiresAt: iso(start + 12 * hourMs), address: '::1', userAgent: '', revokedAt: null },
  ...change,
})

describe('a session', () => {
  it('is written down as seen once a minute, and ends twelve hours after that', async () => {
    const store = new Store(session(), null)
    for (const seconds of [0, 30, 59])
      expect(await findSession(store.client, secret, start + seconds * 1000)).not.toBeNull()
    expect(store.touched).toEqual([])
    await findSession(store.client, secret, start + minuteMs)
    expect(store.touched).toEqual([[hashToken(secret), iso(start + minuteMs), iso(start + minuteMs + 12 * hourMs)]])
  })

  it('is put off no further than the day when it ends in any case', async () => {
    const late = start + absoluteMs - hourMs
    const store = new Store(session({ lastSeenAt: iso(late - minuteMs), expiresAt: iso(late + hourMs) }), null)
    await findSession(store.client, secret, late)
    expect(store.touched[0]?.[2]).toBe(iso(start + absoluteMs))
  })

  it('goes on where the store cannot be written', async () => {
    const store = new Store(session(), null)
    store.isSick = true
    expect(await findSession(store.client, secret, start + hourMs)).not.toBeNull()
  })

  it.each<[string, Partial<Session>]>([
    ['has expired to the millisecond', { expiresAt: iso(start) }],
    ['was revoked', { revokedAt: iso(start - 1) }],
    ['is another one whose hash the store confuses', { tokenSha256: hashToken(mintToken()) }],
  ])('that %s is none, and is not touched', async (_what, change) => {
    const store = new Store(session(change), null)
    expect(await findSession(store.client, secret, start)).toBeNull()
    expect(store.touched).toEqual([])
  })

  it('goes on after the clock was set back, and is written down again when that has caught up', async () => {
    const store = new Store(session(), null)
    expect(await findSession(store.client, secret, start - 24 * hourMs)).not.toBeNull()
    expect(store.touched).toEqual([])
    await findSession(store.client, secret, start + minuteMs)
    expect(store.touched).toHaveLength(1)
  })
})

describe('an API token', () => {
  const text = mintApiToken()
  const token = (change: Partial<ApiToken> = {}): ApiToken => ({
    ...{ id: 'tok_1', name: 'ci', tokenSha256: hashToken(text), lastFour: text.slice(-4), role: 'viewer' },
    ...{
      projectId: null,
      createdBy: 'anna',
      createdAt: iso(start),
      expiresAt: null,
      lastUsedAt: null,
      revokedAt: null,
    },
    ...change,
  })

  it('has its first use written down, and then one a minute', async () => {
    for (const [lastUsedAt, times] of [
      [null, 1],
      [iso(start - 59_999), 0],
      [iso(start - minuteMs), 1],
    ] as const) {
      const store = new Store(null, token({ lastUsedAt }))
      expect(await findToken(store.client, text, start)).toMatchObject({ id: 'tok_1' })
      expect(store.touched).toHaveLength(times)
    }
  })

  it.each<[string, Partial<ApiToken>]>([
    ['has expired to the millisecond', { expiresAt: iso(start) }],
    ['was revoked', { revokedAt: iso(start) }],
    ['is another one', { tokenSha256: hashToken(mintApiToken()) }],
  ])('that %s is none', async (_what, change) => {
    const store = new Store(null, token(change))
    expect(await findToken(store.client, text, start)).toBeNull()
    expect(store.touched).toEqual([])
  })

  it('works where the store cannot be written', async () => {
    const store = new Store(null, token())
    store.isSick = true
    expect(await findToken(store.client, text, start)).not.toBeNull()
  })

  it.each(['', 'spt_', mintToken(), `${text}x`, text.slice(0, -1), text.replace('spt_', 'sp_live_'), ` ${text}`])(
    'is looked up nowhere where it cannot be one: %j',
    async (wrong) => {
      const store = new Store(null, token({ tokenSha256: hashToken(wrong) }))
      expect(await findToken(store.client, wrong, start)).toBeNull()
    },
  )
})

describe('a link', () => {
  let store: Store
  beforeEach(() => {
    store = new Store(null, null)
  })

  it('of an operator who was removed meanwhile lets nobody in', async () => {
    store.operators = []
    expect(await refusedWith(takeLink(store.client, secret))).toBe('wrong')
  })

  it('that makes the first owner makes none where somebody was faster', async () => {
    store.linkOf = null
    expect(await refusedWith(takeLink(store.client, secret))).toBe('refused')
    store.operators = []
    store.conflict = new StoreConflict('there is an operator')
    expect(await refusedWith(takeLink(store.client, secret))).toBe('refused')
    expect(store.inserted).toEqual([])
  })

  it('does not take a store in trouble for an owner who stands', async () => {
    store.linkOf = null
    store.operators = []
    store.conflict = new Error('the disk is full')
    await expect(takeLink(store.client, secret)).rejects.toThrow('the disk is full')
  })

  it('makes an owner of the workspace, by his own name in the audit', async () => {
    store.linkOf = null
    store.operators = []
    const made = await takeLink(store.client, secret)
    expect(isOwner(made)).toBe(true)
    expect(store.inserted).toMatchObject([[{ actor: 'owner', actorId: made.id, operation: 'operators.add' }, made]])
  })

  it('is shown at a start until somebody has signed in', async () => {
    expect(await findFirstOperator(store.client)).toMatchObject({ name: 'anna' })
    const viewer: Operator = { ...anna, id: 'opr_0', name: 'viewer', grants: [{ project: null, role: 'viewer' }] }
    const gone: Operator = { ...anna, id: 'opr_2', name: 'gone', state: 'disabled' }
    const ofProject: Operator = { ...anna, id: 'opr_3', grants: [{ project: 'prj_1', role: 'owner' }] }
    store.operators = [viewer, gone, ofProject, anna]
    expect(await findFirstOperator(store.client)).toMatchObject({ id: 'opr_1' })
    store.operators = [anna, { ...viewer, lastSignInAt: iso(start) }]
    expect(await findFirstOperator(store.client)).toBeUndefined()
    store.operators = []
    expect(await findFirstOperator(store.client)).toBeNull()
  })
})

it('tokens are long, new each time, and compared whole', () => {
  const tokens = Array.from({ length: 100 }, mintToken)
  expect(new Set(tokens).size).toBe(100)
  expect(tokens.every(isToken)).toBe(true)
  const [one = '', other = ''] = tokens
  expect([isSame(one, one), isSame(one, other), isSame(one, one.slice(1)), isSame('', '')]).toEqual([
    ...[true, false, false, true],
  ])
})

it.each([
  ['eleven char', 'The password is too short.'],
  ['x'.repeat(257), 'The password is too long.'],
  ['aAaAaAaAaAaAaA', 'The password is too easy to guess.'],
  ['abcdabcdabcdabcd', 'The password is too easy to guess.'],
  ['abcdeabcdeab', null],
  ['correct horse battery', null],
  ['шесть слов по-русски', null],
  [`${'x'.repeat(252)}abcd`, null],
])('the password %j is refused: %s', (password, reason) => {
  if (reason === null) expect(() => refuseWeak(password)).not.toThrow()
  else expect(() => refuseWeak(password)).toThrow(reason)
})
