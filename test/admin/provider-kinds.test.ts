import { describe, expect, it } from 'vitest'
import { refusal, startTestGateway } from './gateway.ts'

const accessKey = JSON.stringify(
  { access_key_id: 'AKIAEXAMPLE00001234', secret_access_key: 'secret/access+key/0123456789' },
  null,
  2,
)
const serviceAccount = JSON.stringify({
  type: 'service_account',
  project_id: 'p-1',
  private_key_id: 'key-id-000000009876',
  private_key: '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n',
  client_email: 'gateway@p-1.iam.gserviceaccount.com',
})
/** Of nobody, valid for a hundred years. */
const authority = [
  '-----BEGIN CERTIFICATE-----',
  'MIIBjjCCATWgAwIBAgIUPgjxA0oHHsRf6mkEkXktrim80OcwCgYIKoZIzj0EAwIw',
  'HDEaMBgGA1UEAwwRYXV0aG9yaXR5LmV4YW1wbGUwIBcNMjYxMTIxMTQzMzQxWhgP',
  'MjEyNjEwMjgxNDMzNDFaMBwxGjAYBgNVBAMMEWF1dGhvcml0eS5leGFtcGxlMFkw',
  'EwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEV9l+JACTIYVsbSBKpprW+cCWoVs+OFXH',
  'eUXRxgb2EInOn+wRfxnxJg/J9ylfkmHmdkIRfxOKTds2/PnpG80YuqNTMFEwHQYD',
  'VR0OBBYEFE1adiy1FIgFQD56aslS/iyYlqMjMB8GA1UdIwQYMBaAFE1adiy1FIgF',
  'QD56aslS/iyYlqMjMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDRwAwRAIg',
  'M5Y+sZkUMo+WEkpNgVD7oYhqy7S/7yB8757Zlri/GzECIBO0y56CbqLu1wMOYcDk',
  'pkt60se2T3ZA86ezpN+78/5N',
  '-----END CERTIFICATE-----',
  '',
].join('\n')
const bedrock = { name: 'aws', kind: 'bedrock', region: 'eu-central-1', credential: accessKey }
const vertex = { name: 'google', kind: 'vertex', location: 'europe-west4', credential: serviceAccount }
const azure = {
  name: 'azure',
  kind: 'azure-openai',
  baseUrl: 'https://one.openai.azure.com',
  credential: 'azure-key-0123456789',
}

describe('a provider whose kind needs more than a key', () => {
  const placed = [
    [bedrock, 'https://bedrock-runtime.eu-central-1.amazonaws.com', '1234'],
    [{ ...bedrock, region: 'cn-north-1' }, 'https://bedrock-runtime.cn-north-1.amazonaws.com.cn', '1234'],
    [vertex, 'https://europe-west4-aiplatform.googleapis.com', '9876'],
    [{ ...vertex, location: 'global' }, 'https://aiplatform.googleapis.com', '9876'],
    [{ ...vertex, location: 'eu' }, 'https://aiplatform.eu.rep.googleapis.com', '9876'],
    [azure, 'https://one.openai.azure.com', '6789'],
  ] as const

  it('is at the address that follows from its settings', async () => {
    const { client, checks } = await startTestGateway()
    for (const [place, [input, baseUrl, lastFour]] of placed.entries()) {
      const added = await client.providers.add({ ...input, name: `one-${place}` })
      expect(added).toMatchObject({ base_url: baseUrl, credentials: [{ last_four: lastFour }] })
      expect(JSON.stringify(added)).not.toMatch(/secret|BEGIN/)
      expect(checks.asked.at(-1)).toEqual({ baseUrl, credential: input.credential })
    }
  })

  const refused = [
    [{ ...bedrock, region: undefined }, /needs --region/, /sign calls/],
    [{ ...vertex, location: undefined }, /needs --location/, /europe-west4/],
    [
      { ...bedrock, credential: '{"access_key_id":"AKIA"}' },
      /not a credential of the kind bedrock/,
      /secret_access_key/,
    ],
    [{ ...bedrock, credential: '{"access_key_id":' }, /begins like JSON/, /access key/],
    [{ ...vertex, credential: 'AIza-a-key' }, /An API key is not a credential/, /service account key/],
    [
      { ...vertex, credential: '{"type":"external_account","audience":"x"}' },
      /"external_account"/,
      /service account key/,
    ],
    [{ ...azure, credential: '{"tenant_id":"a"}' }, /not a credential/, /an API key, or .*client_secret/],
    [{ ...azure, region: 'x' }, /has no --region/, /--api-version/],
    [{ ...azure, credential: '{"client_certificate":"x","client_key":"y"}' }, /not a PEM certificate/, /client_key/],
  ] as const

  it('is refused in words where it lacks something', async () => {
    const { client } = await startTestGateway()
    for (const [input, message, hint] of refused)
      expect(await refusal(client.providers.add(input)), JSON.stringify(input)).toMatchObject({
        code: 'invalid',
        message: expect.stringMatching(message),
        hint: expect.stringMatching(hint),
      })
  })

  it('moves with its settings, and takes its credential along only when it is given again', async () => {
    const { client } = await startTestGateway()
    await client.providers.add(bedrock)
    const alone = await refusal(client.providers.edit({ name: 'aws', region: 'us-east-1' }))
    expect(alone).toMatchObject({ code: 'invalid', message: expect.stringMatching(/not sent to another host/) })
    const moved = await client.providers.edit({ name: 'aws', region: 'us-east-1', credential: accessKey })
    expect(moved).toMatchObject({
      base_url: 'https://bedrock-runtime.us-east-1.amazonaws.com',
      settings: { region: 'us-east-1' },
    })
    await client.providers.edit({ name: 'aws', baseUrl: 'https://vpce.example', credential: accessKey })
    expect(await client.providers.edit({ name: 'aws', region: 'us-west-2' })).toMatchObject({
      base_url: 'https://vpce.example',
    })
  })

  it('goes another way only with its credential given again', async () => {
    const { client } = await startTestGateway()
    await client.providers.add(azure)
    for (const way of [{ proxy: 'http://elsewhere:3128' }, { authorities: authority.replaceAll('\n', ' ') }]) {
      const alone = await refusal(client.providers.edit({ name: 'azure', ...way }))
      expect(alone).toMatchObject({ code: 'invalid', message: expect.stringMatching(/not sent another way/) })
    }
    const broken = await refusal(client.providers.edit({ name: 'azure', authorities: 'nonsense' }))
    expect(broken).toMatchObject({ code: 'invalid', message: expect.stringMatching(/not certificates/) })
    const believed = await client.providers.edit({
      name: 'azure',
      credential: azure.credential,
      authorities: authority.replaceAll('\n', ' '),
    })
    expect(believed.settings.authorities).toBe(authority)
    const proxied = { name: 'azure', proxy: 'http://elsewhere:3128', allowPrivate: true, credential: azure.credential }
    expect(await client.providers.edit(proxied)).toMatchObject({
      settings: { proxy: 'http://elsewhere:3128', allow_private: true },
    })
  })

  it('is never at the address of the machine itself, nor behind a proxy that is none', async () => {
    const { client } = await startTestGateway()
    for (const proxy of ['ftp://proxy:21', 'http://user:secret@proxy:3128', 'nonsense', 'http://169.254.169.254']) {
      const failure = await refusal(client.providers.add({ ...azure, proxy }))
      expect(failure.code).toBe('invalid')
      expect(JSON.stringify(failure)).not.toContain('secret')
    }
    for (const baseUrl of [
      'http://169.254.169.254/openai',
      'http://metadata.google.internal',
      'http://[fd00:ec2::254]',
    ])
      expect(await refusal(client.providers.add({ ...azure, baseUrl, skipCheck: true }))).toMatchObject({
        code: 'invalid',
        message: expect.stringMatching(/never called/),
      })
  })

  it('stands in a file as well, and moves with its settings there', async () => {
    const { client } = await startTestGateway()
    const file = (settings: string, variables: Record<string, string>) => ({
      files: {
        'gateway.yaml': `providers: [{ name: aws, kind: bedrock, credential: "\${AWS}", settings: ${settings} }]`,
      },
      variables,
    })
    await client.apply(file('{ region: eu-central-1 }', { AWS: accessKey }))
    expect(await client.providers.show({ name: 'aws' })).toMatchObject({
      base_url: 'https://bedrock-runtime.eu-central-1.amazonaws.com',
      credentials: [{ last_four: '1234' }],
    })
    expect((await client.diff(file('{ region: eu-central-1 }', { AWS: accessKey }))).changes).toEqual([])
    for (const elsewhere of ['{ region: us-east-1 }', '{ region: eu-central-1, proxy: "http://p.example:1" }']) {
      const { problems } = await client.diff(file(elsewhere, {}))
      expect(JSON.stringify(problems)).toContain('are not sent')
    }
    const wrong = await client.diff(file('{ region: eu-central-1 }', { AWS: '{"access_key_id":"AKIA"}' }))
    expect(JSON.stringify(wrong.problems)).toContain('not a credential of the kind bedrock')
    await client.apply(file('{ region: us-east-1 }', { AWS: accessKey }))
    expect((await client.providers.show({ name: 'aws' })).base_url).toBe(
      'https://bedrock-runtime.us-east-1.amazonaws.com',
    )
  })

  it('says what credentials it takes', async () => {
    const { client } = await startTestGateway()
    const kinds = new Map((await client.providers.kinds({})).map((kind) => [kind.kind, kind]))
    expect(kinds.get('bedrock')).toMatchObject({
      credential_word: true,
      credential_documents: [{ title: 'access key', members: ['access_key_id', 'secret_access_key'] }],
      settings: { required: ['region'] },
    })
    expect(kinds.get('vertex')).toMatchObject({ credential_word: false })
    expect(kinds.get('demo')).toMatchObject({ credential_word: false, credential_documents: [], own_settings: [] })
  })
})
