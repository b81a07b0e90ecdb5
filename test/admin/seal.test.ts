import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sealWitness } from '../../src/sealing/keyring.ts'
import { createNextKey } from '../../src/sealing/next-key.ts'
import { refusal, startTestGateway, type TestGateway } from './gateway.ts'

async function start(): Promise<TestGateway> {
  const gateway = await startTestGateway()
  await gateway.store.seal.setWitness(sealWitness(gateway.parts.keyring))
  await add(gateway, 'first')
  return gateway
}

const add = (gateway: TestGateway, name: string) =>
  gateway.client.providers.add({ name, kind: 'openai', credential: `sk-${name}-credential` })

const keyIdsIn = async (gateway: TestGateway) =>
  new Set((await gateway.store.seal.everything()).map(({ sealed }) => sealed.split('.')[1]))

describe('seal rotate', () => {
  it('re-seals everything that is sealed, and says so in the audit', async () => {
    const gateway = await start()
    await gateway.client.seal['recovery-key']({})
    const before = await gateway.client.seal.status({})
    const rotated = await gateway.client.seal.rotate({})
    expect(rotated).toMatchObject({ previous_key_id: before.key_id, sealed: 1, broken: [], to_replace: null })
    expect(await keyIdsIn(gateway)).toEqual(new Set([rotated.key_id]))
    expect(rotated.recovery_key_id).toBe(before.recovery_key_id)
    const [line] = await gateway.client.audit.list({ operation: 'seal.rotate' })
    expect(line).toMatchObject({ before: { key_id: before.key_id }, after: { key_id: rotated.key_id, resealed: 3 } })
  })

  it('re-seals the secrets of authenticators, and tells of one that does not open', async () => {
    const gateway = await start()
    const { client, store, parts } = gateway
    const { id } = await client.operators.add({ name: 'anna', role: 'owner' })
    const sealed = async () => (await store.operators.find(id))?.totpSealed ?? ''
    await store.operators.update(id, { totpSealed: parts.keyring.seal('a secret', `totp:${id}`) })
    const before = await sealed()
    expect(await client.seal.rotate({})).toMatchObject({ sealed: 2, broken: [] })
    expect(await sealed()).not.toBe(before)
    expect(parts.keyring.open(await sealed(), `totp:${id}`).reveal()).toBe('a secret')
    // Moved to another operator it opens nothing, and shows.
    const other = await client.operators.add({ name: 'ben', role: 'viewer' })
    await store.operators.update(other.id, { totpSealed: await sealed() })
    expect((await client.seal.status({})).broken).toEqual([`totp:${other.id}`])
  })

  it.each([
    [[], 'End the cluster here with spgw cluster dissolve'],
    [['gw-b', 'gw-c'], 'On each other node (gw-b, gw-c): spgw cluster leave. Then end the cluster here with'],
  ])('is refused in a cluster, and says how to end it where the other nodes are %j', async (names, hint) => {
    const gateway = await start()
    const before = await gateway.client.seal.status({})
    const status = async () => ({ node: 'gw-a', nodes: ['gw-a', ...names].map((name) => ({ name })) })
    Object.assign(gateway.parts.runtime, { cluster: { cluster: () => 'clu_1', status, refresh: async () => {} } })
    const refused = await refusal(gateway.client.seal.rotate({}))
    expect(refused.hint).toContain(hint)
    Object.assign(gateway.parts.runtime, { cluster: null })
    expect(await gateway.client.seal.status({})).toEqual(before)
  })

  it('leaves what opened with no key as it was, and names it', async () => {
    const gateway = await start()
    const [value] = await gateway.store.seal.sealed()
    if (value === undefined) throw new Error('nothing is sealed')
    await gateway.store.seal.replace(await gateway.store.seal.everything(), [
      { identity: value.identity, before: value.sealed, after: 'left-behind' },
    ])
    expect(await gateway.client.seal.rotate({})).toMatchObject({ broken: [value.identity] })
    // A pool with such a one in it can still be added to.
    await gateway.client.providers.credentials.add({ name: 'first', credential: 'sk-second-credential' })
    expect((await gateway.client.seal.status({})).broken).toEqual([value.identity])
  })

  it('is refused while another has not ended, and changes nothing', async () => {
    const gateway = await start()
    const before = await gateway.store.seal.everything()
    createNextKey(gateway.parts.runtime.dataDirectory)
    expect((await refusal(gateway.client.seal.rotate({}))).message).toContain('A rotation is in progress')
    expect(await gateway.store.seal.everything()).toEqual(before)
  })

  it('takes in what is sealed while it reads', async () => {
    const gateway = await start()
    const { store } = gateway.parts
    const read = store.seal.everything
    let reads = 0
    store.seal.everything = async () => {
      const values = await read()
      if (++reads === 1) await add(gateway, 'second')
      return values
    }
    const rotated = await gateway.client.seal.rotate({})
    expect([reads, rotated.sealed, rotated.broken]).toEqual([2, 2, []])
  })

  it('gives up what never settles down, and goes on as before', async () => {
    const gateway = await start()
    const { store, runtime } = gateway.parts
    const before = await gateway.client.seal.status({})
    store.seal.everything = async () => []
    expect((await refusal(gateway.client.seal.rotate({}))).code).toBe('conflict')
    expect(await gateway.client.seal.status({})).toEqual(before)
    expect(existsSync(join(runtime.dataDirectory, 'machine.key.next'))).toBe(false)
  })
})

describe('a value that was sealed before a rotation and is stored after it', () => {
  it('is refused: no key would open it', async () => {
    const gateway = await start()
    const { store, keyring } = gateway.parts
    const [provider] = await store.providers.list()
    if (provider === undefined) throw new Error('no provider')
    const stale = { id: 'cre_stale', sealed: keyring.seal('x', 'i'), lastFour: 'xxxx', addedAt: provider.createdAt }
    await gateway.client.seal.rotate({})
    const { revision } = provider
    const next = { ...revision, number: revision.number + 1 }
    const held = store.providers.addRevision(provider.id, { ...next, credentials: [stale] })
    await expect(held).rejects.toThrow('rotated in the meantime')
    // Nor may one that was read before be written back.
    await expect(store.providers.addRevision(provider.id, next)).rejects.toThrow('rotated in the meantime')
    await expect(store.seal.setRecovery(stale.sealed)).rejects.toThrow('rotated in the meantime')
  })
})

describe('seal recovery-key', () => {
  it('is shown once, and kept only as what backups are sealed for', async () => {
    const gateway = await start()
    expect((await gateway.client.seal.status({})).recovery_key_id).toBeNull()
    const made = await gateway.client.seal['recovery-key']({})
    expect((await gateway.client.seal.status({})).recovery_key_id).toBe(made.recovery_key_id)
    const again = await gateway.client.seal['recovery-key']({})
    expect(again.recovery_key_id).not.toBe(made.recovery_key_id)
    const audit = JSON.stringify(await gateway.client.audit.list({}))
    expect(audit).toContain(made.recovery_key_id)
    for (const { recovery_key } of [made, again]) expect(audit).not.toContain(recovery_key.slice(-20))
  })
})
