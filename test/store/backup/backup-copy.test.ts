import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { newId } from '../../../src/core/ids.ts'
import type { StoreClient } from '../../../src/store/api.ts'
import { openCopy, renewTriggers, takeCopy } from '../../../src/store/backup/backup-copy.ts'
import type { Operator } from '../../../src/store/operators/operator-tables.ts'
import { openStore } from '../../../src/store/sqlite/open.ts'
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

describe('a database that somebody has written to be restored', () => {
  const nativeBinding = undefined

  async function forge(statements: string) {
    const { path, copy } = await makeCopy()
    await copy.close()
    const database = new Sqlite(path)
    database.exec(statements)
    database.close()
    return path
  }

  function triggersOf(path: string): unknown[] {
    const database = new Sqlite(path)
    const found = database.prepare("select name, sql from sqlite_schema where type = 'trigger' order by name").all()
    database.close()
    return found
  }

  it('keeps no trigger of theirs, whatever its name', async () => {
    const path = await forge(`drop trigger forget_eval_input;
      create trigger forget_eval_input after insert on sessions begin update operators set state = 'active'; end;
      create trigger "their ""own" after update on operators begin delete from tokens; end;
      drop trigger audit_is_never_changed`)
    const fresh = { path: join(temporaryDirectory(), 'fresh.db'), nativeBinding }
    await (await openStore(fresh)).close()
    renewTriggers({ path, nativeBinding }, fresh)
    expect(triggersOf(path)).toEqual(triggersOf(fresh.path))
    expect(triggersOf(path).length).toBeGreaterThan(5)
  })

  it('is refused with a view, which may never come to its end', async () => {
    const endless =
      'with recursive n(x) as (select 1 union all select x + 1 from n) select x as name, x as sealed from n'
    const copy = openCopy({ path: await forge(`drop table seal; create view seal as ${endless}`), nativeBinding })
    expect(() => copy.check()).toThrow('the database has views, which spgw does not make')
    await copy.close()
  })
})
