import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { Membership, type MembershipParts } from '../../src/cluster/membership.ts'
import { Secret } from '../../src/core/secrets/secret.ts'
import { answerJoiner } from '../../src/sealing/hand-over.ts'
import { type Keyring, makeKeyring } from '../../src/sealing/keyring.ts'
import { createMachineKey, type MachineKey } from '../../src/sealing/machine-key.ts'

const secret = 's'.repeat(43)
let directory: string
let ofCluster: MachineKey

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'spgw-join-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  ofCluster = createMachineKey(join(directory, 'of-cluster'))
})

const nextPath = () => join(directory, 'machine.key.next')

/** As the node that invited answers, and PostgreSQL passes on. */
async function joinWith(keyring: Keyring, failure: Error | null = null): Promise<void> {
  let asked = { publicKey: '', proof: '', member: '' }
  const answers: Record<string, (input: typeof asked) => unknown> = {
    find: () => ({ cluster: 'clu_1', sequence: 1, members: [] }),
    'ask-join': (input) => {
      asked = input
      return true
    },
    'read-answer': () => {
      const given = { secret: new Secret(secret), cluster: 'clu_1', invite: 'inv', member: asked.member, name: 'gw-b' }
      return answerJoiner(given, asked.publicKey, asked.proof, ofCluster.source)
    },
    rows: () => {
      if (failure !== null) throw failure
      return { sequence: 1, mark: 'm', rows: [] }
    },
  }
  const node = {
    ...{ state: null, trouble: null },
    link: { ask: async (name: string, input: typeof asked) => answers[name]?.(input) ?? null },
    stand() {},
    async settled() {},
  }
  const store = {
    snapshot: async () => ({ providers: [], routes: [], policies: [], keys: [] }),
    operators: { list: async () => [] },
    replica: async () => null,
    seal: { makeDurable: async () => {} },
  }
  const parts = { ...{ node, store, keyring, name: 'gw-b', dataDirectory: directory }, publish: async () => {} }
  await new Membership(parts as object as MembershipParts).join(new Secret(`sp_join_clu_1.inv.${secret}`))
}

it('takes the place of the own one, in the data directory', async () => {
  const keyring = makeKeyring(createMachineKey(join(directory, 'machine.key')))
  await joinWith(keyring)
  expect(keyring.describe()).toMatchObject({ keyId: ofCluster.keyId, replaces: null })
  expect(readFileSync(join(directory, 'machine.key'), 'utf8')).toBe(readFileSync(ofCluster.source, 'utf8'))
  expect(existsSync(nextPath())).toBe(false)
})

it('waits beside one that its operator keeps elsewhere, and what it is to replace is known', async () => {
  const outside = createMachineKey(join(directory, 'outside'))
  const keyring = makeKeyring(outside)
  await joinWith(keyring)
  expect(keyring.describe()).toMatchObject({ keyId: ofCluster.keyId, source: nextPath(), replaces: outside.source })
  expect(readFileSync(nextPath(), 'utf8')).toBe(readFileSync(ofCluster.source, 'utf8'))
})

it('is left where it is by a node to which its operator has given it already', async () => {
  const path = join(directory, 'secret')
  copyFileSync(ofCluster.source, path)
  const keyring = makeKeyring({ ...ofCluster, source: path })
  await joinWith(keyring)
  expect(keyring.describe()).toMatchObject({ keyId: ofCluster.keyId, source: path, replaces: null })
  expect(existsSync(nextPath())).toBe(false)
})

it('is not left behind where PostgreSQL is lost before anything is taken in', async () => {
  const own = createMachineKey(join(directory, 'machine.key'))
  const keyring = makeKeyring(own)
  await expect(joinWith(keyring, new Error('connection lost'))).rejects.toThrow('connection lost')
  expect(keyring.describe()).toMatchObject({ keyId: own.keyId })
  expect(existsSync(nextPath())).toBe(false)
})
