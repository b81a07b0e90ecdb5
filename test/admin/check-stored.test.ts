import { expect, it } from 'vitest'
import { refusal, startTestGateway } from './gateway.ts'

const credential = 'sk-canary-credential-7f3a91'

it('checks a provider with every credential of the pool, and well as long as one is', async () => {
  const { client, checks, ready } = await startTestGateway()
  await client.providers.add({ name: 'openai', kind: 'openai', credential })
  await client.providers.credentials.add({ name: 'openai', credential: 'sk-canary-second-55aa55bb' })
  const rejected = { ok: false, reason: 'credential_rejected', message: 'The provider refused it.', models: [] }
  checks.results.set(credential, rejected)
  ready.length = 0
  const check = await client.providers.check({ name: 'openai' })
  expect(check).toMatchObject({
    ...{ ok: true, reason: null, message: expect.stringMatching(/^1 of its 2 credentials passed\. /) },
    models: ['gpt-4o-mini'],
    credentials: [
      { last_four: '3a91', ok: false, reason: 'credential_rejected', message: 'The provider refused it.' },
      { last_four: '55bb', ok: true, reason: null },
    ],
  })
  expect(JSON.stringify(check)).not.toContain('sk-canary')
  expect(await client.providers.show({ name: 'openai' })).toMatchObject({ state: 'ready', id: ready[0] })
  checks.results.set('sk-canary-second-55aa55bb', rejected)
  expect(await client.providers.check({ name: 'openai' })).toMatchObject({
    ...{ ok: false, reason: 'credential_rejected' },
    message: 'None of its 2 credentials passed. The provider refused it.',
  })
  expect(await client.providers.show({ name: 'openai' })).toMatchObject({ state: 'failing' })
})

it('says of a provider with one revision that there is none to go back to', async () => {
  const { client } = await startTestGateway()
  await client.providers.add({ name: 'openai', kind: 'openai', credential })
  expect(await refusal(client.providers.rollback({ name: 'openai' }))).toMatchObject({
    code: 'not_found',
    message: 'openai has only its first revision, so there is none to go back to.',
  })
})
