import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { newId } from '../../../src/core/ids.ts'
import type { StoreClient } from '../../../src/store/api.ts'
import { openCopy, takeCopy } from '../../../src/store/backup/backup-copy.ts'
import type { Operator } from '../../../src/store/operators/operator-tables.ts'
import { now, startTestStore, storePaths, temporaryDirectory } from '../support.ts'

const operator: Operator = {
  id: 'opr_1',
  name: 'anna',
  displayName: 'Anna',
  state: 'active',
  passwordHash: '$argon2id$canary',
  totpSealed: 'sealed-here',
  oidcIssuer: null,
  oidcSubject: null,
  grants: [{ project: null, role: 'owner' }],
  createdAt: now,
  lastSignInAt: null,
}

async function makeCopy() {
  const directory = temporaryDirectory()
  const { databasePath } = storePaths(directory)
  const store = await startTestStore(storePaths(directory))
  await store.operators.insert(operator)
  const later = new Date(Date.now() + 60_000).toISOString()
  const session = {
    tokenSha256: 'session-canary',
    id: newId('ses'),
    operatorId: operator.id,
    method: 'password' as const,
  }
  const seen = {
    createdAt: now,
    lastSeenAt: now,
    expiresAt: later,
    address: '192.0.2.7',
    userAgent: 'a',
    revokedAt: null,
  }
  await store.sessions.insert({ ...session, ...seen })
  await store.links.insert({ tokenSha256: 'link-canary', operatorId: operator.id, createdAt: now, expiresAt: later })
  const token = {
    id: newId('tok'),
    name: 'deploy',
    tokenSha256: 'token-hash',
    lastFour: 'wxyz',
    role: 'admin' as const,
  }
  const ages = { createdBy: 'anna', createdAt: now, expiresAt: null, lastUsedAt: null, revokedAt: null }
  await store.tokens.insert({ ...token, projectId: null, ...ages })
  const passkey = { id: newId('pas'), operatorId: operator.id, credentialId: 'c', publicKey: 'k', counter: 0 }
  await store.passkeys.insert({ ...passkey, transports: [], name: 'laptop', createdAt: now, lastUsedAt: null })
  const path = join(temporaryDirectory(), 'copy.db')
  takeCopy({ path: databasePath, nativeBinding: undefined }, path)
  return { path, copy: openCopy({ path, nativeBinding: undefined }) }
}

async function openAsStore(path: string): Promise<StoreClient> {
  return await startTestStore({ ...storePaths(temporaryDirectory()), databasePath: path })
}

describe('a copy for a backup', () => {
  it('takes operators, their ways in and API tokens along, and neither sessions nor links', async () => {
    const { path, copy } = await makeCopy()
    await copy.leaveBehind({ records: false, credentials: false })
    const [value] = await copy.sealed()
    expect(value).toEqual({ identity: 'totp:opr_1', sealed: 'sealed-here' })
    await copy.reseal([{ identity: 'totp:opr_1', before: 'sealed-here', after: 'sealed-for-the-backup' }], [])
    await copy.close()
    const store = await openAsStore(path)
    expect(await store.operators.find('anna')).toMatchObject({
      passwordHash: '$argon2id$canary',
      totpSealed: 'sealed-for-the-backup',
      grants: operator.grants,
    })
    expect(await store.passkeys.list('opr_1')).toHaveLength(1)
    expect(await store.tokens.findByHash('token-hash')).toMatchObject({ name: 'deploy' })
    expect(await store.sessions.find('session-canary')).toBeNull()
    expect(await store.sessions.list(null, now)).toEqual([])
    expect(await store.links.take('link-canary', now)).toBeNull()
  })

  it.each(['credentials are left behind', 'it does not open'])(
    'never lets a password alone in where a code was asked too, when %s',
    async (why) => {
      const { path, copy } = await makeCopy()
      const without = why === 'credentials are left behind'
      await copy.leaveBehind({ records: false, credentials: without })
      if (!without) await copy.reseal([], ['totp:opr_1'])
      await copy.close()
      const store = await openAsStore(path)
      expect((await store.operators.find('anna'))?.totpSealed).toBe('left-behind')
    },
  )
})
