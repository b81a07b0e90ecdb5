import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { keyForm } from '../../src/core/secrets/gateway-key.ts'
import { good, refusal, startTestGateway } from './gateway.ts'

const credential = 'sk-canary-credential-7f3a91'
const openai = { name: 'openai', kind: 'openai', credential }

describe('workspace, projects, environments', () => {
  it('are added, listed, changed and removed', async () => {
    const { client } = await startTestGateway()
    await client.workspace.rename({ name: 'acme' })
    expect((await client.workspace.show({})).name).toBe('acme')
    await client.projects.add({ name: 'search' })
    await client.environments.add({ name: 'staging', project: 'search' })
    expect(await client.projects.show({ name: 'search' })).toMatchObject({ name: 'search', environments: ['staging'] })
    expect((await client.environments.list({ all: true })).map((one) => `${one.project}/${one.name}`).sort()).toEqual([
      'default/production',
      'search/staging',
    ])
    await client.projects.edit({ name: 'search', rename: 'discovery' })
    expect(await client.environments.remove({ name: 'staging', project: 'discovery' })).toMatchObject({ removed: true })
    expect(await client.projects.remove({ name: 'discovery' })).toMatchObject({ name: 'discovery', removed: true })
    expect((await client.projects.list({})).map(({ name }) => name)).toEqual(['default'])
  })

  it('refuse with a code, a cause and a hint', async () => {
    const { client } = await startTestGateway()
    expect(await refusal(client.projects.add({ name: 'default' }))).toMatchObject({ code: 'conflict' })
    expect(await refusal(client.projects.show({ name: 'nowhere' }))).toEqual({
      code: 'not_found',
      message: 'There is no project "nowhere".',
      hint: 'List them: spgw projects list',
    })
    expect(await refusal(client.projects.add({ name: 'Not A Slug' }))).toMatchObject({
      code: 'invalid',
      message: expect.stringMatching(/^Name: must be at most 63 lower-case/),
    })
    await client.keys.create({ name: 'ci' })
    const inUse = await refusal(client.environments.remove({ name: 'production' }))
    expect(inUse).toMatchObject({ code: 'conflict', message: expect.stringContaining('ci') })
  })
})

describe('routes', () => {
  it('of all environments need none of them, and are told from those of one', async () => {
    const { client } = await startTestGateway()
    await client.projects.add({ name: 'empty' })
    await client.providers.add(openai)
    const all = { model: 'gpt-4o', project: 'empty', allEnvironments: true }
    expect(await client.routes.add({ ...all, provider: 'openai' })).toMatchObject({ environment: null })
    expect(await client.routes.edit({ ...all, retries: 3 })).toMatchObject({ retries: 3 })
    await client.routes.add({ model: 'one', provider: 'openai' })
    expect(await refusal(client.routes.edit({ model: 'one', allEnvironments: true }))).toMatchObject({
      code: 'not_found',
      hint: expect.stringContaining('leave --all-environments out'),
    })
    await client.routes.add({ model: 'many', provider: 'openai', allEnvironments: true })
    expect(await refusal(client.routes.edit({ model: 'many' }))).toMatchObject({
      hint: expect.stringContaining('add --all-environments'),
    })
  })
})

describe('providers', () => {
  it('are checked, and stored with what the check learnt', async () => {
    const { client, checks, published } = await startTestGateway()
    const before = published
    const added = await client.providers.add({ ...openai, credential: `${credential}\n`, tags: { team: 'a' } })
    expect(added).toMatchObject({
      name: 'openai',
      state: 'ready',
      active: true,
      base_url: 'https://api.openai.com/v1',
      models: [{ name: 'gpt-4o-mini', context_tokens: 128_000, output_tokens: null }],
      credentials: [{ last_four: '3a91' }],
      revision: 1,
      projects: null,
    })
    expect(checks.asked).toEqual([{ baseUrl: 'https://api.openai.com/v1', credential }])
    expect(await client.providers.list({})).toEqual([added])
    expect(before).toBe(0)
  })

  it('are refused, and nothing is stored, when the check fails', async () => {
    const { client, checks, ready } = await startTestGateway()
    checks.result = {
      ...good,
      ok: false,
      reason: 'credential_rejected',
      message: 'The provider refused the credential.',
    }
    const refused = await refusal(client.providers.add(openai))
    expect(refused).toMatchObject({ code: 'refused', message: expect.stringContaining('refused the credential') })
    expect(await client.providers.list({})).toEqual([])
    expect(await client.providers.add({ ...openai, skipCheck: true })).toMatchObject({ state: 'unchecked' })
    const check = await client.providers.check({ name: 'openai' })
    expect(check).toMatchObject({ ok: false, reason: 'credential_rejected' })
    const shown = await client.providers.show({ name: 'openai' })
    expect(shown).toMatchObject({ state: 'failing', state_code: 'credential_rejected' })
    expect(ready).toEqual([])
    checks.result = good
    await client.providers.check({ name: 'openai' })
    expect(await client.providers.show({ name: 'openai' })).toMatchObject({ state: 'ready', id: ready[0] })
  })

  it.each([
    ['an unknown kind', { kind: 'opanai' }, /no provider kind/],
    ['no credential where one is needed', { credential: undefined }, /needs a credential/],
    ['an address with a credential', { baseUrl: 'https://me:secret@host/v1' }, /contains a credential/],
    ['an address of another protocol', { baseUrl: 'ftp://host/v1' }, /not an http or https/],
    ['a header that authenticates', { headers: { Authorization: 'Bearer x' } }, /contains a credential/],
    ['a header that cannot be sent', { headers: { 'x-a': 'b\r\nc: d' } }, /not a header/],
    ['a setting that the kind has not', { preset: 'groq' }, /kind openai has no --preset/],
    ['a credential of two lines', { credential: 'a\nb' }, /line breaks/],
  ])('take no %s', async (_what, change, message) => {
    const { client, checks } = await startTestGateway()
    expect(await refusal(client.providers.add({ ...openai, ...change }))).toMatchObject({
      code: 'invalid',
      message: expect.stringMatching(message),
    })
    expect(checks.asked).toEqual([])
  })

  it('take their base URL from the preset, and need one elsewhere', async () => {
    const { client } = await startTestGateway()
    const compatible = { name: 'other', kind: 'openai-compatible', credential }
    expect(await refusal(client.providers.add({ ...compatible, preset: 'grok' }))).toMatchObject({
      message: '--preset cannot be "grok".',
      hint: /Did you mean groq\? Known: vllm, /,
    })
    expect(await refusal(client.providers.add(compatible))).toMatchObject({ code: 'invalid', hint: /--base-url/ })
    expect(await client.providers.add({ ...compatible, preset: 'groq' })).toMatchObject({
      base_url: 'https://api.groq.com/openai/v1',
      settings: { preset: 'groq' },
    })
  })

  it('carry the settings of their kind, each changed and taken off by itself', async () => {
    const { client } = await startTestGateway()
    const added = await client.providers.add({ ...openai, organization: 'org-1', openaiProject: 'proj-1' })
    expect(added.settings).toEqual({ organization: 'org-1', project: 'proj-1' })
    const edited = await client.providers.edit({ name: 'openai', organization: null, openaiProject: 'proj-2' })
    expect(edited).toMatchObject({ settings: { project: 'proj-2' }, revision: 2 })
    expect(edited.settings).not.toHaveProperty('organization')
  })

  it('get a revision for what calls depend on, checked first, and go back', async () => {
    const { client, checks } = await startTestGateway()
    await client.providers.add(openai)
    expect(await client.providers.edit({ name: 'openai', inactive: true })).toMatchObject({ active: false })
    const next = await client.providers.edit({ name: 'openai', tags: { team: 'b' }, rename: 'main', inactive: false })
    expect(next).toMatchObject({ active: true, revision: 1, tags: { team: 'b' } })

    checks.result = { ...good, ok: false, reason: 'credential_rejected', message: 'No.' }
    const change = { name: 'main', credential: 'sk-second-credential-0002' }
    expect(await refusal(client.providers.edit(change))).toMatchObject({ code: 'refused' })
    expect(await client.providers.show({ name: 'main' })).toMatchObject({ revision: 1, state: 'ready' })

    checks.result = good
    expect(await client.providers.edit(change)).toMatchObject({ revision: 2, credentials: [{ last_four: '0002' }] })
    await client.providers.edit({ name: 'main', timeoutTotal: '30s', headers: { 'x-team': 'a' } })
    const revisions = await client.providers.revisions({ name: 'main' })
    expect(revisions.map(({ number, active }) => [number, active])).toEqual([
      [3, true],
      [2, false],
      [1, false],
    ])
    expect(revisions[0]).toMatchObject({ timeouts: { total_ms: 30_000, connect_ms: null }, headers: { 'x-team': '…' } })

    const back = await client.providers.rollback({ name: 'main', revision: 1 })
    expect(back).toMatchObject({ revision: 1, credentials: [{ last_four: '3a91' }] })
    expect(checks.asked.at(-1)?.credential).toBe(credential)
    expect(await refusal(client.providers.rollback({ name: 'main', revision: 1 }))).toMatchObject({ code: 'conflict' })
    expect(await refusal(client.providers.rollback({ name: 'main', revision: 9 }))).toMatchObject({ code: 'not_found' })
    // The next one never takes the number of one that was rolled back.
    expect(await client.providers.edit({ name: 'main', timeoutTotal: '9s' })).toMatchObject({ revision: 4 })
  })

  it('send no stored credential to another host: with a new address it is given again', async () => {
    const { client, checks } = await startTestGateway()
    await client.providers.add({ ...openai, baseUrl: 'https://api.openai.com/v1' })
    const asked = checks.asked.length
    for (const baseUrl of ['https://other.example/v1', 'http://api.openai.com/v1', 'https://api.openai.com:8443/v1'])
      for (const skipCheck of [false, true])
        expect(await refusal(client.providers.edit({ name: 'openai', baseUrl, skipCheck })), baseUrl).toMatchObject({
          code: 'invalid',
          message: expect.stringContaining('not sent to another host'),
          hint: expect.stringContaining('--credential-stdin'),
        })
    expect(checks.asked).toHaveLength(asked)
    expect(await client.providers.show({ name: 'openai' })).toMatchObject({ revision: 1 })
    await client.providers.edit({ name: 'openai', baseUrl: 'https://API.openai.com:443/v2' })
    const elsewhere = { name: 'openai', baseUrl: 'https://other.example/v1' }
    await client.providers.edit({ ...elsewhere, credential: 'sk-second-credential-0002' })
    expect(checks.asked.at(-1)).toEqual({ baseUrl: elsewhere.baseUrl, credential: 'sk-second-credential-0002' })
    // Each revision has the credential that was given for its address.
    await client.providers.rollback({ name: 'openai', revision: 1 })
    expect(checks.asked.at(-1)).toEqual({ baseUrl: 'https://api.openai.com/v1', credential })

    await client.providers.credentials.add({ name: 'openai', credential: 'sk-third-credential-0003' })
    const one = { ...elsewhere, credential: 'sk-fourth-credential-0004', replace: '0003' }
    expect(await refusal(client.providers.edit(one))).toMatchObject({ code: 'invalid', message: /pool of 2/ })
    await client.providers.add({ name: 'bare', kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9001/v1' })
    expect(await client.providers.edit({ name: 'bare', baseUrl: 'http://127.0.0.1:9002/v1' })).toMatchObject({
      base_url: 'http://127.0.0.1:9002/v1',
    })
  })

  it('have a pool of credentials, in which a replaced one keeps its place', async () => {
    const { client } = await startTestGateway()
    await client.providers.add(openai)
    await client.providers.credentials.add({ name: 'openai', credential: 'sk-second-credential-0002' })
    expect(
      await refusal(client.providers.edit({ name: 'openai', credential: 'sk-third-credential-0003' })),
    ).toMatchObject({
      code: 'invalid',
      hint: expect.stringContaining('--replace'),
    })
    await client.providers.edit({ name: 'openai', credential: 'sk-third-credential-0003', replace: '3a91' })
    const pool = async () => (await client.providers.credentials.list({ name: 'openai' })).map((one) => one.last_four)
    expect(await pool()).toEqual(['0003', '0002'])
    await client.providers.credentials.remove({ name: 'openai', credential: '0003' })
    expect(await pool()).toEqual(['0002'])
    const last = client.providers.credentials.remove({ name: 'openai', credential: '0002' })
    expect(await refusal(last)).toMatchObject({ code: 'invalid', message: /needs a credential/ })
  })

  it('are switched, limited to projects, and not removed while a route needs them', async () => {
    const { client } = await startTestGateway()
    await client.projects.add({ name: 'search' })
    await client.providers.add({ ...openai, inactive: true, projects: ['search'] })
    expect(await client.providers.activate({ name: 'openai' })).toMatchObject({ active: true, projects: ['search'] })
    const limited = await refusal(client.routes.add({ model: 'gpt-4o', provider: 'openai' }))
    expect(limited).toMatchObject({ code: 'invalid', message: /limited to other projects/ })
    await client.providers.edit({ name: 'openai', allProjects: true })
    await client.routes.add({ model: 'gpt-4o', provider: 'openai' })
    expect(await client.providers.deactivate({ name: 'openai' })).toMatchObject({ active: false, routes: 1 })
    const used = await refusal(client.providers.remove({ name: 'openai' }))
    expect(used).toMatchObject({ code: 'conflict', message: expect.stringContaining('gpt-4o') })
    await client.routes.remove({ model: 'gpt-4o' })
    expect(await client.providers.remove({ name: 'openai' })).toMatchObject({ removed: true })
  })

  it('are of a kind that says what it takes', async () => {
    const { client } = await startTestGateway()
    const kinds = await client.providers.kinds({})
    expect(kinds.find(({ kind }) => kind === 'openai-compatible')).toMatchObject({
      default_base_url: null,
      settings: { properties: { preset: { type: 'string' } } },
      own_settings: expect.arrayContaining([{ setting: 'preset', field: 'preset', flag: '--preset' }]),
    })
    expect(await client.providers.add({ name: 'demo', kind: 'demo' })).toMatchObject({
      state: 'ready',
      credentials: [],
    })
  })
})

describe('keys', () => {
  it('are shown once', async () => {
    const { client, store } = await startTestGateway()
    expect(await refusal(client.keys.create({ name: 'late', expires: '2020-01-01T00:00:00Z' }))).toMatchObject({
      code: 'invalid',
      hint: expect.stringContaining('a time in the future'),
    })
    const created = await client.keys.create({ name: 'ci', expires: '30d' })
    expect(Object.keys(created)).toEqual(['id', 'name', 'key', 'project', 'environment', 'expires_at'])
    expect(created).toMatchObject({ name: 'ci', project: 'default', environment: 'production' })
    expect(keyForm(created.key)).toBe('valid')
    expect(Date.parse(created.expires_at ?? '')).toBeGreaterThan(Date.now() + 29 * 86_400_000)
    const shown = [await client.keys.show({ key: 'ci' }), await client.keys.list({}), await client.audit.list({})]
    expect(JSON.stringify(shown)).not.toContain(created.key)
    expect(shown[0]).toMatchObject({ last_four: created.key.slice(-4), state: 'active' })
    const stored = await store.keys.find(created.id, null, null)
    expect(JSON.stringify(stored)).not.toContain(created.key)
    expect(JSON.stringify(shown)).not.toContain(stored?.secrets[0]?.hash)
  })

  it('are rotated with a grace, or at once', async () => {
    const { client, store } = await startTestGateway()
    const first = await client.keys.create({ name: 'ci' })
    const second = await client.keys.rotate({ key: 'ci' })
    expect(second.id).toBe(first.id)
    expect(second.key).not.toBe(first.key)
    const secrets = async () => (await store.keys.find(first.id, null, null))?.secrets ?? []
    expect((await secrets()).map(({ lastFour }) => lastFour)).toEqual([second.key.slice(-4), first.key.slice(-4)])
    expect((await secrets())[1]?.expiresAt).toBe(second.grace_ends_at)
    const third = await client.keys.rotate({ key: 'ci', grace: '0s' })
    expect(third.grace_ends_at).toBeNull()
    expect((await secrets()).map(({ lastFour }) => lastFour)).toEqual([third.key.slice(-4)])
  })

  it('are ended before the answer', async () => {
    const gateway = await startTestGateway()
    const { client } = gateway
    await client.keys.create({ name: 'ci' })
    const before = gateway.published
    expect(await client.keys.revoke({ key: 'ci' })).toMatchObject({ state: 'revoked' })
    expect(gateway.published).toBe(before + 1)
    expect(await refusal(client.keys.rotate({ key: 'ci' }))).toMatchObject({ code: 'refused' })
    await client.keys.create({ name: 'ci' })
    expect(await refusal(client.keys.create({ name: 'ci' }))).toMatchObject({ code: 'conflict' })
  })

  it('are revoked with their streams only when that is asked for, later too', async () => {
    const gateway = await startTestGateway()
    const { client } = gateway
    const { id } = await client.keys.create({ name: 'ci' })
    await client.keys.revoke({ key: 'ci' })
    expect(gateway.closed).toEqual([])
    expect(await client.keys.revoke({ key: id, closeStreams: true })).toMatchObject({ state: 'revoked' })
    expect(gateway.closed).toEqual([id])
  })

  it('are changed and removed', async () => {
    const { client } = await startTestGateway()
    await client.policies.add({ name: 'small' })
    await client.keys.create({ name: 'ci', policy: 'small', tags: { team: 'a' }, expires: '1d' })
    const edited = await client.keys.edit({
      key: 'ci',
      name: 'build',
      policy: 'none',
      expires: 'never',
      tags: { team: '' },
    })
    expect(edited).toMatchObject({ name: 'build', policy: null, expires_at: null, tags: {} })
    expect(await client.keys.remove({ key: 'build' })).toMatchObject({ removed: true })
    expect(await refusal(client.keys.show({ key: 'build' }))).toMatchObject({ code: 'not_found' })
  })
})

describe('seal and status', () => {
  it('say how things are', async () => {
    const { client, store } = await startTestGateway()
    await client.providers.add(openai)
    expect(await client.seal.status({})).toMatchObject({ sealed: 1, broken: [] })
    expect(await client.status({})).toMatchObject({
      version: '1.2.3',
      workers: 2,
      requests_since_start: 7,
      degraded: [],
      providers: { ready: 1, failing: 0, unchecked: 0, inactive: 0 },
    })
    const [provider] = await store.providers.list()
    if (!provider) throw new Error('no provider')
    // A sealed value moved to another row does not open.
    const moved = { ...provider, id: 'prv_moved', name: 'moved' }
    await store.providers.insert(moved, { ...provider.revision, number: 1 })
    expect((await client.seal.status({})).broken).toHaveLength(1)
    const check = await client.providers.check({ name: 'moved' })
    expect(check).toMatchObject({ ok: false, reason: 'credential_sealed' })
    expect((await client.status({})).providers).toMatchObject({ ready: 1, failing: 1, recovering: 0 })
  })
})

describe('the audit', () => {
  it('says who changed what through which surface, and holds no secret', async () => {
    const { client, databasePath, faults } = await startTestGateway()
    await client.providers.add(openai)
    await client.providers.edit({ name: 'openai', credential: 'sk-canary-second-55aa55aa' })
    await client.providers.credentials.add({ name: 'openai', credential: 'sk-canary-third-66bb66bb' })
    const created = await client.keys.create({ name: 'ci' })
    const rotated = await client.keys.rotate({ key: 'ci' })
    await client.keys.revoke({ key: 'ci' })
    const lines = await client.audit.list({})
    expect(lines.map(({ operation }) => operation).slice(0, 6)).toEqual([
      'keys.revoke',
      'keys.rotate',
      'keys.create',
      'providers.credentials.add',
      'providers.edit',
      'providers.add',
    ])
    expect(lines[0]).toMatchObject({
      actor: 'local owner',
      surface: 'cli',
      resource: { kind: 'key', name: 'ci' },
      before: { state: 'active' },
      after: { state: 'revoked' },
    })
    expect(await client.audit.list({ operation: 'keys.revoke', since: '1h', limit: 5 })).toHaveLength(1)
    const secrets = [credential, 'sk-canary-second', 'sk-canary-third', created.key, rotated.key]
    const places = [
      JSON.stringify([lines, await client.providers.list({}), await client.providers.revisions({ name: 'openai' })]),
      readFileSync(databasePath, 'latin1'),
      readFileSync(`${databasePath}-wal`, 'latin1'),
    ]
    for (const place of places) for (const secret of secrets) expect(place.includes(secret)).toBe(false)
    expect(places.some((place) => place.includes('credential:'))).toBe(false)
    expect(faults).toEqual([])
  })

  it('keeps no line of what was refused', async () => {
    const { client, checks } = await startTestGateway()
    checks.result = { ...good, ok: false, reason: 'unreachable', message: 'Nobody answers.' }
    await refusal(client.providers.add(openai))
    expect(await client.audit.list({ operation: 'providers.add' })).toEqual([])
  })
})
