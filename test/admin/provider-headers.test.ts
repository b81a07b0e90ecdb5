import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import type { ClusterFace } from '../../src/admin/handlers/context.ts'
import { mayBeSecret, showHeaders } from '../../src/core/secrets/provider-headers.ts'
import { openHeaders } from '../../src/daemon/open-credentials.ts'
import { sealHeaders as sealStored } from '../../src/daemon/seal-headers.ts'
import { sealWitness } from '../../src/sealing/keyring.ts'
import type { StoreClient } from '../../src/store/api.ts'
import { openCopy, takeCopy } from '../../src/store/backup/backup-copy.ts'
import { refusal, startTestGateway, type TestGateway } from './gateway.ts'

const canary = 'canary-1f6c0b'
const headers = { 'x-gateway-token': canary, 'x-title': 'Our app', 'helicone-cache-enabled': 'true' }
const shown = { 'x-gateway-token': '…', 'x-title': 'Our app', 'helicone-cache-enabled': 'true' }
const baseUrl = 'https://api.example.com/v1'

async function start(): Promise<TestGateway> {
  const gateway = await startTestGateway()
  await gateway.store.seal.setWitness(sealWitness(gateway.parts.keyring))
  await gateway.client.providers.add({
    name: 'p',
    kind: 'openai',
    baseUrl,
    credential: 'sk-1',
    headers,
    skipCheck: true,
  })
  return gateway
}

async function sentBy({ store, parts }: TestGateway): Promise<Record<string, string>> {
  const provider = await store.providers.find('p')
  if (provider === null) throw new Error('There is no provider p.')
  return openHeaders(provider, parts.keyring)
}

describe('a header of a provider', () => {
  it('may be a secret, unless it is well known not to be', () => {
    expect(['x-anything', 'cf-access-client-secret'].map((name) => mayBeSecret(name, canary))).toEqual([true, true])
    expect(['x-title', 'Anthropic-Beta', 'HTTP-Referer'].map((name) => mayBeSecret(name, 'plain'))).toEqual([
      false,
      false,
      false,
    ])
    expect(mayBeSecret('x-title', 'sk-proj-AbCd0123EfGh4567ijKl')).toBe(true)
    expect(showHeaders({ 'x-a': 'of an earlier version' })).toEqual({ 'x-a': '…' })
  })

  it('is sent, and shown to nobody', async () => {
    const gateway = await start()
    const { client, databasePath } = gateway
    expect(await sentBy(gateway)).toEqual(headers)
    expect(await client.providers.show({ name: 'p' })).toMatchObject({ headers: shown })
    const { text } = await client.export({})
    expect(text).toContain(`x-gateway-token: \${P_HEADER_X_GATEWAY_TOKEN}`)
    expect(text).toContain('x-title: Our app')
    const seen = [
      await client.providers.list({}),
      await client.providers.revisions({ name: 'p' }),
      await client.audit.list({}),
      text,
    ]
    expect(JSON.stringify(seen)).not.toContain(canary)
    const database = new DatabaseSync(databasePath, { readOnly: true })
    const stored = database
      .prepare('select headers_json from provider_revisions union select after_json from audit')
      .all()
    database.close()
    expect(JSON.stringify(stored)).not.toContain(canary)
  })

  it('is compared by its fingerprint, and applied from a variable', async () => {
    const gateway = await start()
    const { client } = gateway
    const { text } = await client.export({})
    const files = (token?: string) => ({
      files: { 'a.yaml': text },
      variables: { P_CREDENTIAL: 'sk-1', ...(token === undefined ? {} : { P_HEADER_X_GATEWAY_TOKEN: token }) },
    })
    expect(await client.diff(files(canary))).toMatchObject({ changes: [], notes: [], problems: [] })
    const unset = await client.diff(files())
    expect(unset).toMatchObject({ changes: [], problems: [] })
    expect(unset.notes).toEqual(['provider p: its header x-gateway-token stays as it is: its variable is not set'])
    const plan = await client.diff(files('canary-other'))
    expect(plan.changes).toMatchObject([{ action: 'change', name: 'p' }])
    expect(JSON.stringify(plan)).not.toContain('canary-')
    await client.apply({ ...files('canary-other'), skipCheck: true })
    expect(await sentBy(gateway)).toEqual({ ...headers, 'x-gateway-token': 'canary-other' })
    expect(await client.diff(files('canary-other'))).toMatchObject({ changes: [] })
    const other = await startTestGateway()
    const refused = await refusal(other.client.apply({ ...files(), skipCheck: true }))
    expect(JSON.stringify(refused)).toContain('its header x-gateway-token has a variable that is not set')
    await other.client.apply({ ...files(canary), skipCheck: true })
    expect(await sentBy(other)).toEqual(headers)
  })

  it('stays as it is where … is given back, and makes no revision when it is given again', async () => {
    const gateway = await start()
    const { client } = gateway
    const again = await client.providers.edit({ name: 'p', headers: { 'x-gateway-token': canary }, skipCheck: true })
    expect(again.revision).toBe(1)
    await client.providers.edit({ name: 'p', headers: { ...shown, 'x-title': 'Other' }, skipCheck: true })
    expect(await sentBy(gateway)).toEqual({ ...headers, 'x-title': 'Other' })
    const refused = await refusal(client.providers.edit({ name: 'p', headers: { 'x-new': '…' }, skipCheck: true }))
    expect(refused.message).toContain('has no value yet')
  })

  it('is not changed by hand where a file owns it, and the audit tells that it was', async () => {
    const { client } = await start()
    const file = `owner: team-a\nproviders: [{ name: p, kind: openai, headers: { x-gateway-token: "\${TOKEN}" } }]`
    await client.apply({ files: { 'a.yaml': file }, variables: { TOKEN: canary }, skipCheck: true })
    const other = { name: 'p', headers: { 'x-gateway-token': 'canary-other' }, skipCheck: true }
    const refused = await refusal(client.providers.edit(other))
    expect(refused.message).toContain('manage headers of provider p')
    await client.providers.edit({ ...other, force: true })
    const [line] = await client.audit.list({})
    expect(line).toMatchObject({ operation: 'providers.edit' })
    const [before, after] = [line?.before, line?.after].map((state) => JSON.stringify(state).match(/… \(.*?\)/)?.[0])
    expect(before).toMatch(/^… \(fingerprint [0-9a-f]{16}\)$/)
    expect(after).not.toBe(before)
    expect(JSON.stringify(line)).not.toContain('canary-')
  })

  it('may have the name of what every object has', async () => {
    const gateway = await start()
    const one = { constructor: canary }
    await gateway.client.providers.edit({ name: 'p', headers: one, skipCheck: true })
    expect(await sentBy(gateway)).toEqual({ ...headers, ...one })
  })

  it('goes to no other address than it was given for', async () => {
    const { client } = await start()
    const elsewhere = { name: 'p', baseUrl: 'https://elsewhere.example/v1', credential: 'sk-2', skipCheck: true }
    const refused = await refusal(client.providers.edit(elsewhere))
    expect(refused.message).toContain('The header x-gateway-token of p was given for')
    const file = 'providers: [{ name: p, kind: openai, base_url: "https://elsewhere.example/v1", credential: sk-2 }]'
    const applied = await refusal(client.apply({ files: { 'a.yaml': file }, variables: {}, skipCheck: true }))
    expect(JSON.stringify(applied)).toContain('its header x-gateway-token was given for')
    await client.providers.edit({ ...elsewhere, headers: { 'x-gateway-token': 'another' } })
  })

  it('is sealed anew by a rotation, and left out of a backup without credentials', async () => {
    const gateway = await start()
    const { client, store, databasePath } = gateway
    await client.providers.edit({ name: 'p', headers: { 'x-gateway-token': 'canary-2' }, skipCheck: true })
    const before = await store.seal.everything()
    const { key_id, broken } = await client.seal.rotate({})
    expect(broken).toEqual([])
    const after = await store.seal.everything()
    expect(after.map(({ identity }) => identity)).toEqual(before.map(({ identity }) => identity))
    expect(after.every(({ sealed }) => sealed.startsWith(`sp1.${key_id}.`))).toBe(true)
    expect(await sentBy(gateway)).toEqual({ ...headers, 'x-gateway-token': 'canary-2' })

    const path = join(databasePath, '..', 'copy.db')
    takeCopy({ path: databasePath }, path)
    const copy = openCopy({ path })
    await copy.reseal([], [after.find(({ identity }) => identity.startsWith('header:'))?.identity ?? ''])
    expect(JSON.stringify(await copy.sealed())).toContain('left-behind')
    await copy.leaveBehind({ records: false, credentials: true })
    expect(JSON.stringify(await copy.sealed())).not.toContain('sp1.')
    await copy.close()
    const left = new DatabaseSync(path, { readOnly: true })
    const [row] = left.prepare('select headers_json from provider_revisions').all()
    left.close()
    expect(JSON.parse(String(row?.headers_json))).toEqual({ ...headers, 'x-gateway-token': '…left-behind' })
  })
})

it('headers are sealed once no node of a cluster is of another version', async () => {
  const { client, parts, store } = await startTestGateway()
  const add = { name: 'p', kind: 'openai', baseUrl, credential: 'sk-1', skipCheck: true }
  const other = { name: 'gw-b', version: '1.2.2', state: 'present', condition: null } as const
  const face: Partial<ClusterFace> = {
    others: () => [other],
    cluster: () => null,
    refresh: async () => {},
    confirm: async () => null,
  }
  parts.runtime.cluster = face as ClusterFace
  const stored = async () => (await store.providers.find('p'))?.revision
  await client.providers.add({ ...add, headers })
  await client.providers.edit({ name: 'p', tags: { team: 'a' }, headers: shown })
  expect(await stored()).toMatchObject({ number: 1, headers })
  expect(await client.providers.show({ name: 'p' })).toMatchObject({ headers: shown })
  face.others = () => [{ ...other, version: parts.runtime.version }]
  await client.providers.edit({ name: 'p', timeoutTotal: '9s' })
  expect((await stored())?.headers['x-gateway-token']).toMatch(/^…sp1/)
})

it('headers of an earlier version are sealed by no node of a cluster alone, and left out of its backups', async () => {
  const { databasePath, parts } = await start()
  const member = { replica: async () => ({}), providers: { list: () => expect.unreachable() } }
  await sealStored(member as object as StoreClient, parts.keyring)
  const path = join(databasePath, '..', 'clear.db')
  takeCopy({ path: databasePath }, path)
  const clear = new DatabaseSync(path)
  clear.prepare('update provider_revisions set headers_json = ?').run(JSON.stringify(headers))
  clear.close()
  const copy = openCopy({ path })
  await copy.leaveBehind({ records: false, credentials: true })
  await copy.close()
  const left = new DatabaseSync(path, { readOnly: true })
  const [row] = left.prepare('select headers_json from provider_revisions').all()
  left.close()
  expect(JSON.parse(String(row?.headers_json))).toEqual({ ...headers, 'x-gateway-token': '…left-behind' })
})

describe('a header that does not open', () => {
  it('keeps its provider from being called, until it is entered again', async () => {
    const { client, databasePath } = await start()
    const lost = JSON.stringify({ ...headers, 'x-gateway-token': '…left-behind' })
    const database = new DatabaseSync(databasePath)
    database.prepare('update provider_revisions set headers_json = ?').run(lost)
    database.close()
    const reason = 'its stored header x-gateway-token cannot be decrypted; enter it again'
    expect(await client.providers.check({ name: 'p' })).toMatchObject({ ok: false, reason: 'credential_sealed' })
    expect(await client.providers.show({ name: 'p' })).toMatchObject({ state: 'failing', state_reason: reason })
    const other = await client.providers.edit({ name: 'p', credential: 'sk-2', skipCheck: true })
    expect(other).toMatchObject({ state: 'failing', state_reason: reason })
    const again = await client.providers.edit({ name: 'p', headers: { 'x-gateway-token': canary } })
    expect(again).toMatchObject({ state: 'unchecked', state_reason: null })
  })
})

describe('an address that holds a credential, of an earlier version', () => {
  it('is shown without it everywhere, and stays as it is where its export is applied', async () => {
    const { client, store } = await start()
    const provider = await store.providers.find('p')
    if (provider === null) throw new Error('There is no provider p.')
    const address = 'https://user:secret-1@api.example.com/v1?key=secret-2'
    const revision = { ...provider.revision, number: 2, baseUrl: address, headers: {} }
    await store.providers.addRevision(provider.id, revision)
    const { text } = await client.export({})
    const variables = { P_CREDENTIAL: 'sk-3' }
    const plan = await client.diff({ files: { 'a.yaml': text }, variables })
    const seen = [await client.providers.list({}), await client.providers.revisions({ name: 'p' }), text, plan]
    expect(JSON.stringify(seen)).not.toContain('secret-')
    await client.apply({ files: { 'a.yaml': text }, variables, skipCheck: true })
    expect((await store.providers.find('p'))?.revision).toMatchObject({ number: 3, baseUrl: address })
  })
})
