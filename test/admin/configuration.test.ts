import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { StoreMoved } from '../../src/store/store-error.ts'
import { callAs, everywhere } from './call-as.ts'
import { good, refusal, startTestGateway } from './gateway.ts'

const canary = 'sk-canary-credential-7f3a91'
const file = `
owner: platform
providers:
  - name: openai
    kind: openai
    credential: \${OPENAI_API_KEY}
    timeouts: { connect: 2s }
    tags: { team: search }
policies:
  - name: small
    max_body: 1MB
    attach: [key:ci]
keys:
  - name: ci
    policy: small
routes:
  - model: gpt-4o-mini
    provider: openai
`
const files = (text = file) => ({ files: { 'gateway.yaml': text }, variables: { OPENAI_API_KEY: canary } })
const told = (changes: { action: string; kind: string; name: string }[]) =>
  changes.map(({ action, kind, name }) => `${action} ${kind} ${name}`)

describe('applying a file', () => {
  it('does what its plan said, in one go, and nothing the second time', async () => {
    const gateway = await startTestGateway()
    const { client, store, checks } = gateway
    const plan = await client.diff(files())
    expect(told(plan.changes)).toEqual([
      'create provider openai',
      'create policy small',
      'create key ci',
      'create route gpt-4o-mini',
    ])
    expect(await client.providers.list({})).toEqual([])
    const before = gateway.published
    const applied = await client.apply({ ...files(), expect: plan.expect })
    expect(told(applied.changes)).toEqual(told(plan.changes))
    expect(gateway.published).toBe(before + 1)
    expect(checks.asked).toEqual([{ baseUrl: 'https://api.openai.com/v1', credential: canary }])
    expect(await client.routes.show({ model: 'gpt-4o-mini' })).toMatchObject({ targets: [{ provider: 'openai' }] })
    expect(await client.policies.show({ name: 'small' })).toMatchObject({
      attached_to: ['key:ci'],
      max_body_bytes: 1_000_000,
    })
    const again = await client.diff(files())
    expect(again).toMatchObject({ changes: [], adopted: 0, released: 0, problems: [], notes: [] })
    await client.apply(files())
    expect(gateway.published).toBe(before + 1)
    const lines = await store.audit.list({ limit: 10 })
    expect(lines.map(({ operation, resource }) => `${operation} ${resource.kind}`).sort()).toEqual([
      'apply key',
      'apply policy',
      'apply provider',
      'apply route',
    ])
    expect(JSON.stringify([plan, again, lines])).not.toContain(canary)
  })

  it('shows a new key once, whose hash an export carries to where it is made again', async () => {
    const { client } = await startTestGateway()
    const { keys } = await client.apply(files())
    expect(keys).toMatchObject([{ name: 'ci', project: 'default', environment: 'production' }])
    const secret = keys[0]?.key ?? ''
    const { text } = await client.export({})
    expect(text).toContain(createHash('sha256').update(secret).digest('hex'))
    expect(text).not.toContain(secret)
    expect(text).not.toContain(canary)
    expect(text).toContain(`credential: \${OPENAI_CREDENTIAL} # ends in 3a91`)
    // Where no credential is at hand, an export still compares.
    const same = await client.diff({ files: { 'export.yaml': text } })
    expect([same.changes, same.problems]).toEqual([[], []])
    const wiped = await startTestGateway()
    const variables = { OPENAI_CREDENTIAL: canary }
    expect((await wiped.client.apply({ files: { 'export.yaml': text }, variables })).keys).toEqual([])
    const hash = (await wiped.store.keys.list(null, null))[0]?.secrets[0]?.hash
    expect(hash).toBe(createHash('sha256').update(secret).digest('base64'))
    expect((await wiped.client.export({})).text).toBe(text)
  })

  it('writes nothing when a check fails, and says of each', async () => {
    const { client, checks } = await startTestGateway()
    checks.result = {
      ...good,
      ok: false,
      reason: 'credential_rejected',
      message: 'The provider refused the credential.',
    }
    const two = `${file}\n`.replace(
      'providers:',
      `providers:\n  - { name: second, kind: anthropic, credential: "\${OPENAI_API_KEY}" }`,
    )
    const fault = await refusal(client.apply(files(two)))
    expect(fault.code).toBe('refused')
    expect(fault.message).toContain('check of openai failed')
    expect(fault.message).toContain('check of second failed')
    expect(await client.policies.list({})).toEqual([])
    expect(await client.apply({ ...files(two), skipCheck: true })).toMatchObject({ checked: [] })
    expect(await client.providers.show({ name: 'openai' })).toMatchObject({ state: 'unchecked' })
  })

  it('names every mistake with its place, and changes nothing', async () => {
    const { client } = await startTestGateway()
    const text =
      'providers:\n  - name: a\n    kind: opnai\n  - name: b\n    kind: openai\n    settings: { organisation: x }\n    headers: { authorization: x }\n'
    const { problems } = await client.diff(files(text))
    expect(problems.map(({ place, message }) => `${place} ${message}`)).toEqual([
      expect.stringContaining('gateway.yaml:3:5 provider a: There is no provider kind "opnai"'),
      expect.stringContaining('gateway.yaml:7:5 provider b: The header authorization contains a credential'),
      expect.stringContaining('provider b: the kind openai has no setting organisation; did you mean organization?'),
      expect.stringContaining('provider b: A provider of the kind openai needs a credential'),
    ])
    expect(await refusal(client.apply(files(text)))).toMatchObject({ code: 'invalid' })
    expect(await client.providers.list({})).toEqual([])
  })

  it('says of files that it cannot read whole nothing of what they leave out', async () => {
    const { client } = await startTestGateway()
    const both = 'policies: [{ name: one, rpm: 5 }, { name: two, rpm: 5 }]\n'
    await client.apply(files(both))
    for (const wrong of [both.replace('two, rpm', 'two, rpmm'), 'policies: [']) {
      const plan = await client.diff(files(wrong))
      expect([plan.problems.length, plan.notes]).toEqual([1, []])
      expect((await client.diff({ ...files(wrong), prune: true })).notes).toEqual([])
    }
    const { notes } = await client.diff(files('policies: [{ name: one, rpm: 5 }]'))
    expect(notes).toEqual([expect.stringContaining('policy two: no longer in these files')])
  })

  it('refuses a plan that is another one by now, saying what changed', async () => {
    const { client } = await startTestGateway()
    await client.apply(files())
    const next = file.replace('1MB', '2MB').replace('2s', '3s')
    const { expect: expected } = await client.diff(files(next))
    await client.policies.edit({ name: 'small', maxBody: '5MB', force: true })
    const fault = await refusal(client.apply({ ...files(next), expect: expected }))
    expect(fault).toMatchObject({
      code: 'conflict',
      message: 'The plan has changed: policy small was changed.',
    })
    expect(await client.providers.show({ name: 'openai' })).toMatchObject({ timeouts: { connect_ms: 2000 } })
  })

  it('looks again when others write in between, and goes on where it is all the same', async () => {
    const { client, store, parts } = await startTestGateway()
    const { configuration } = store
    let moved = 0
    parts.store = {
      ...store,
      configuration: {
        ...configuration,
        async write(change) {
          if (moved++ === 0) throw new StoreMoved('others wrote')
          return await configuration.write(change)
        },
      },
    }
    const { changes } = await client.apply(files())
    expect([changes.length, moved]).toEqual([4, 2])
  })

  it('replaces a credential in its place, and keeps what is the same', async () => {
    const { client } = await startTestGateway()
    await client.apply(files())
    const before = await client.providers.show({ name: 'openai' })
    const text = file.replace(`credential: \${OPENAI_API_KEY}`, `credentials: ["\${OPENAI_API_KEY}", "\${SECOND}"]`)
    const variables = { OPENAI_API_KEY: canary, SECOND: 'sk-canary-another-0042' }
    const plan = await client.diff({ files: { a: text }, variables })
    expect(plan.changes).toMatchObject([{ action: 'change', fields: [{ field: 'credentials' }] }])
    await client.apply({ files: { a: text }, variables })
    const after = await client.providers.show({ name: 'openai' })
    expect(after.credentials.map(({ last_four }) => last_four)).toEqual(['3a91', '0042'])
    expect(after.credentials[0]?.id).toBe(before.credentials[0]?.id)
    expect(after.revision).toBe(before.revision + 1)
  })

  it('sends no stored credential to another host: the file gives it with the new address', async () => {
    const { client, checks } = await startTestGateway()
    await client.apply(files())
    const asked = checks.asked.length
    const moved = file.replace('kind: openai\n', 'kind: openai\n    base_url: https://other.example/v1\n')
    const bare = moved.replace(`    credential: \${OPENAI_API_KEY}\n`, '')
    expect(bare).not.toContain('OPENAI_API_KEY')
    for (const input of [files(bare), { ...files(moved), variables: {} }]) {
      const problem = { code: 'invalid', message: expect.stringContaining('are not sent to another host') }
      expect(await refusal(client.apply({ ...input, skipCheck: true }))).toMatchObject(problem)
      expect((await client.diff(input)).problems).toHaveLength(1)
    }
    expect(checks.asked).toHaveLength(asked)
    expect(await client.providers.show({ name: 'openai' })).toMatchObject({ base_url: 'https://api.openai.com/v1' })
    await client.apply(files(moved))
    expect(checks.asked.at(-1)).toEqual({ baseUrl: 'https://other.example/v1', credential: canary })
  })

  it('says how many fields of what was made by hand it takes over, where it changes some of them, too', async () => {
    const { client } = await startTestGateway()
    await client.policies.add({ name: 'small', maxBody: '2MB' })
    const text = 'owner: platform\npolicies:\n  - name: small\n    max_body: 1MB\n  - name: other\n    max_body: 1MB\n'
    const plan = await client.diff(files(text))
    expect(told(plan.changes).sort()).toEqual(['change policy small', 'create policy other'])
    // The name and the rule; what the file makes is its own anyway.
    expect(plan.adopted).toBe(2)
    expect(await client.apply({ ...files(text), expect: plan.expect })).toMatchObject({ adopted: 2 })
    expect((await client.diff(files(text))).adopted).toBe(0)
  })

  it('plans all but a new credential whose variable is not set, and makes nothing of it', async () => {
    const { client } = await startTestGateway()
    const input = { ...files(), variables: {} }
    const problem = { place: 'gateway.yaml:6:5', message: 'provider openai: the variable OPENAI_API_KEY is not set' }
    const plan = await client.diff(input)
    expect(told(plan.changes)).toHaveLength(4)
    expect(plan.changes[0]?.fields).toContainEqual({
      ...{ field: 'credentials', before: null },
      after: ['unknown (OPENAI_API_KEY is not set)'],
    })
    expect(plan).toMatchObject({ problems: [], unset: [problem], notes: [`${problem.message}; apply needs it`] })
    const fault = await refusal(client.apply({ ...input, expect: plan.expect, skipCheck: true }))
    expect(fault).toMatchObject({ code: 'invalid', message: `${problem.place}: ${problem.message}` })
    expect(await client.providers.list({})).toEqual([])

    // One that is there stays, and stays the file's.
    await client.apply(files())
    expect(await client.diff(input)).toMatchObject({ changes: [], unset: [], adopted: 0, released: 0 })
    expect((await client.diff(input)).notes).toEqual([`${problem.message}; its credential stays as it is`])
  })

  it('shows a viewer the plan, and of credentials nothing that he could guess by', async () => {
    const { client, parts } = await startTestGateway()
    const asViewer = (input: object) =>
      callAs(parts, everywhere('viewer'), 'diff', input) as ReturnType<typeof client.diff>
    const made = await asViewer(files())
    expect(told(made.changes)).toHaveLength(4)
    expect(JSON.stringify(made.changes)).toContain('ends in 3a91')
    expect(JSON.stringify(made.changes)).not.toContain('fingerprint')
    await client.apply(files())
    for (const guess of [canary, 'sk-canary-another-0042']) {
      const { changes, notes, released } = await asViewer({ ...files(), variables: { OPENAI_API_KEY: guess } })
      expect([changes, released]).toEqual([[], 0])
      expect(notes).toEqual(['provider openai: its credential was not compared, which needs the role admin'])
    }
    expect(await refusal(callAs(parts, everywhere('viewer'), 'apply', files()))).toMatchObject({ code: 'refused' })
  })

  it('leaves a revoked key revoked', async () => {
    const { client } = await startTestGateway()
    await client.apply(files())
    await client.keys.revoke({ key: 'ci' })
    const text = file.replace('    attach: [key:ci]\n', '')
    const { changes, notes } = await client.diff(files(text))
    expect(told(changes)).toEqual([])
    expect(notes[0]).toContain('key ci in default/production was revoked and stays revoked')
  })
})

describe('what a file owns', () => {
  it('is refused to others by name, taken by force, and shown', async () => {
    const { client } = await startTestGateway()
    await client.apply(files())
    const edit = { name: 'openai', timeoutConnect: '9s' }
    expect(await refusal(client.providers.edit(edit))).toEqual({
      code: 'refused',
      message: 'The configuration files of owner "platform" manage timeouts.connect_ms of provider openai.',
      hint: 'Change it there and apply the file, or add --force: the change then lasts until the file is applied again.',
    })
    await client.providers.edit({ name: 'openai', timeoutTotal: '9m' })
    expect((await client.providers.show({ name: 'openai' })).owned).toMatchObject({
      name: 'platform',
      tags: 'platform',
      'timeouts.connect_ms': 'platform',
    })
    expect(await refusal(client.routes.remove({ model: 'gpt-4o-mini' }))).toMatchObject({ code: 'refused' })
    await client.routes.remove({ model: 'gpt-4o-mini', force: true })
    await client.providers.edit({ ...edit, force: true })
    const { changes } = await client.diff(files())
    expect(told(changes)).toEqual(['change provider openai', 'create route gpt-4o-mini'])
  })

  it('takes an owner of the gateway where a project goes with it', async () => {
    const { client, parts } = await startTestGateway()
    await client.apply(files('projects: [search]'))
    const input = { ...files('projects: []'), prune: true }
    expect(await refusal(callAs(parts, everywhere('admin'), 'apply', input))).toMatchObject({ code: 'refused' })
    await callAs(parts, everywhere('owner'), 'apply', input)
    expect((await client.projects.list({})).map(({ name }) => name)).toEqual(['default'])
  })

  it('goes with --prune when the file names it no more, and nothing else does', async () => {
    const { client } = await startTestGateway()
    await client.apply(files())
    await client.policies.add({ name: 'by-hand' })
    const text = 'owner: platform\nproviders:\n  - name: openai\n'
    const kept = await client.diff(files(text))
    expect([kept.changes, kept.released]).toEqual([[], 3])
    expect(kept.notes[0]).toContain('no longer in these files (owner platform); --prune removes them')
    const applied = await client.apply({ ...files(text), prune: true })
    expect(told(applied.changes)).toEqual(['remove route gpt-4o-mini', 'remove key ci', 'remove policy small'])
    expect((await client.policies.list({})).map(({ name }) => name)).toEqual(['by-hand'])
    expect(await client.providers.show({ name: 'openai' })).toMatchObject({ tags: { team: 'search' } })
  })
})
