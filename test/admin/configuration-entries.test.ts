import { describe, expect, it } from 'vitest'
import { refusal, startTestGateway } from './gateway.ts'

const files = (text: string, variables: Record<string, string> = {}) => ({
  files: { 'gateway.yaml': text },
  variables,
})
type Gateway = Awaited<ReturnType<typeof startTestGateway>>

async function problemsOf({ client }: Gateway, text: string, variables?: Record<string, string>): Promise<string[]> {
  const { problems } = await client.diff(files(text, variables))
  return problems.map(({ place, message }) => `${place} ${message}`)
}

describe('a policy in a file', () => {
  it('is refused with each pattern that is none, at its own place', async () => {
    const gateway = await startTestGateway()
    const text = [
      'policies:',
      '  - name: safe',
      "    deny_patterns: ['(?i)zeus', '(x']",
      '    content_rules:',
      '      - { name: keys, detector: secrets, action: block }',
      "      - { name: tickets, pattern: 'x*', action: flag }",
      '',
    ].join('\n')
    expect(await problemsOf(gateway, text)).toEqual([
      expect.stringMatching(/^gateway\.yaml:3:5 policy safe: The pattern "\(x" cannot be used: missing closing \)/),
      expect.stringMatching(/^gateway\.yaml:4:5 policy safe: The pattern of the content rule tickets cannot be used/),
    ])
    expect(await refusal(gateway.client.apply(files(text)))).toMatchObject({ code: 'invalid' })
    expect(await problemsOf(gateway, text.replace('(x', 'x').replace('x*', 'x+'))).toEqual([])
  })
})

describe('a provider in a file', () => {
  const credential = '{"access_key_id":"AKIA0000000000001234","secret_access_key":"canary-0123456789abcdefghij"}'
  const aws = (rest: string) => `providers: [{ name: aws, ${rest} }]`
  const made = aws(`kind: bedrock, credential: "\${AWS}", settings: { region: eu-central-1 }`)

  it('that is new needs its kind, and one that is there keeps it', async () => {
    const gateway = await startTestGateway()
    const text = aws(`credential: "\${AWS}", settings: { region: eu-central-1 }`)
    expect(await problemsOf(gateway, text, { AWS: credential })).toEqual([
      'gateway.yaml:1:13 provider aws: a new provider needs its kind',
    ])
    await gateway.client.apply(files(made, { AWS: credential }))
    expect(await problemsOf(gateway, text, { AWS: credential })).toEqual([])
  })

  it('is refused with all that is wrong of its settings, and hears which there are', async () => {
    const gateway = await startTestGateway()
    const text = aws(`kind: demo, settings: { colour: red }`)
    expect(await problemsOf(gateway, text)).toEqual([
      expect.stringMatching(/^gateway\.yaml:1:\d+ provider aws: the kind demo has no setting colour; it has none$/),
    ])
    const other = aws(`kind: bedrock, credential: "\${AWS}", settings: { region: eu-central-1, zzz: 1, regiom: x }`)
    expect(await problemsOf(gateway, other, { AWS: credential })).toEqual([
      expect.stringMatching(/no setting zzz; it has .*region/),
      expect.stringMatching(/no setting regiom; did you mean region\?$/),
    ])
  })

  it('stays at an address of its own when its settings move, and at that of its kind moves with them', async () => {
    const gateway = await startTestGateway()
    const own = 'base_url: https://bedrock.example.com, '
    for (const [given, address] of [
      ['', 'https://bedrock-runtime.us-east-1.amazonaws.com'],
      [own, 'https://bedrock.example.com'],
    ] as const) {
      await gateway.client.apply(files(made.replace('kind:', `${given}kind:`), { AWS: credential }))
      // The next file says nothing of the address.
      await gateway.client.apply(files(made.replace('eu-central-1', 'us-east-1'), { AWS: credential }))
      expect((await gateway.client.providers.show({ name: 'aws' })).base_url).toBe(address)
    }
  })

  it('takes a setting back that the file empties', async () => {
    const gateway = await startTestGateway()
    const proxied = made.replace('eu-central-1', 'eu-central-1, proxy: "http://proxy.example:3128"')
    await gateway.client.apply(files(proxied, { AWS: credential }))
    const plain = made.replace('eu-central-1', 'eu-central-1, proxy: none')
    await gateway.client.apply(files(plain, { AWS: credential }))
    expect((await gateway.client.providers.show({ name: 'aws' })).settings).toEqual({ region: 'eu-central-1' })
  })

  it('without any credential where its kind needs one is refused, or with an empty one', async () => {
    const gateway = await startTestGateway()
    const none = 'provider openai: A provider of the kind openai needs a credential'
    expect(await problemsOf(gateway, 'providers: [{ name: openai, kind: openai }]')).toEqual([
      expect.stringContaining(none),
    ])
    const text = `providers: [{ name: openai, kind: openai, credential: "\${KEY}" }]`
    await gateway.client.apply(files(text, { KEY: 'sk-canary-0123456789' }))
    expect(await problemsOf(gateway, 'providers: [{ name: openai, kind: openai }]')).toEqual([])
    expect(await problemsOf(gateway, text, { KEY: ' ' })).toEqual([
      'gateway.yaml:1:43 provider openai: The credential is empty',
    ])
  })

  it('names each variable of its credentials that is not set', async () => {
    const { client } = await startTestGateway()
    const text = `providers: [{ name: openai, kind: openai, credentials: ["\${ONE}", "\${TWO}"] }]`
    const plan = await client.diff(files(text))
    expect(plan.unset).toEqual([
      {
        place: expect.stringMatching(/^gateway\.yaml:1:\d+$/),
        message: 'provider openai: the variable ONE is not set, the variable TWO is not set',
      },
    ])
    expect(plan.changes[0]?.fields).toContainEqual({
      ...{ field: 'credentials', before: null },
      after: ['unknown (ONE, TWO is not set)'],
    })
  })

  it('sends no stored credential to a host that a changed setting names, unless the file gives it anew', async () => {
    const gateway = await startTestGateway()
    await gateway.client.apply(files(made, { AWS: credential }))
    const moved = made.replace('eu-central-1', 'us-east-1')
    const [problem] = await problemsOf(gateway, moved.replace(`credential: "\${AWS}", `, ''))
    expect(problem).toContain(
      'its stored credentials were given for https://bedrock-runtime.eu-central-1.amazonaws.com, and are not sent to another host, scheme or port; give them in the file together with the new address or setting',
    )
    expect(await problemsOf(gateway, moved, { AWS: credential })).toEqual([])
    const lines = [
      'providers:',
      '- name: aws',
      '  settings:',
      '    proxy: http://p.example:1',
      '  base_url: https://b.example',
    ]
    expect(await problemsOf(gateway, lines.join('\n'))).toEqual([
      expect.stringMatching(/^gateway\.yaml:5:3 .* are not sent to another host/),
      expect.stringMatching(/^gateway\.yaml:4:5 .* are not sent another way/),
    ])
  })
})
