import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { type LaneName, laneNames } from '../../src/core/lane.ts'
import type { RequestRecord } from '../../src/core/record.ts'
import { type GatewayOptions, startGateway, type TestGateway } from './gateway.ts'
import { type MockProvider, type Seen, startMockProvider } from './mock-provider.ts'

/** A gateway with one strict mock behind each lane, a route to each, and a key. One for a test file: starting it is what costs. */
export interface Stage {
  gateway: TestGateway
  mocks: Record<LaneName, MockProvider>
  models: Record<LaneName, string>
  key: string
  /** The record of an answer, checked against what the mock served for it. */
  expectRecord(requestId: string | null | undefined, seen: Seen, lane: LaneName): Promise<RequestRecord>
  /** Throws when a credential leaked to a mock since the last call. */
  assertClean(): void
  close(): Promise<void>
}

export const stageModels: Record<LaneName, string> = {
  openai: 'gpt-4o-mini',
  anthropic: 'claude-opus-5-5',
  gemini: 'gemini-3.8-flash',
}

/** Looks like the provider's own credential, and is unique, so that it can be searched for. */
export function mintCredential(lane: LaneName): string {
  const unique = randomBytes(18).toString('hex')
  return { openai: `sk-mock${unique}`, anthropic: `sk-ant-mock${unique}`, gemini: `AIzaMock${unique}` }[lane]
}

export async function setStage(options: GatewayOptions = {}): Promise<Stage> {
  const credentials = {
    openai: mintCredential('openai'),
    anthropic: mintCredential('anthropic'),
    gemini: mintCredential('gemini'),
  }
  const [openai, anthropic, gemini, gateway] = await Promise.all([
    startMockProvider('openai', credentials.openai),
    startMockProvider('anthropic', credentials.anthropic),
    startMockProvider('gemini', credentials.gemini),
    startGateway(options),
  ])
  const mocks = { openai, anthropic, gemini }
  for (const lane of laneNames) {
    await gateway.admin.providers.add({
      name: lane,
      kind: lane,
      baseUrl: mocks[lane].baseUrl,
      credential: credentials[lane],
    })
    await gateway.addRoute(stageModels[lane], [lane])
  }
  const { key } = await gateway.createKey('test')
  return {
    gateway,
    mocks,
    models: stageModels,
    key,
    async expectRecord(requestId, seen, lane) {
      const record = await gateway.record(requestId ?? '')
      expect(record).toMatchObject({ state: 'settled', lane, provider: lane, key: { name: 'test' }, error: null })
      expect(record.status).toBe(seen.answer.status)
      // Gemini says nothing of what its embeddings used: their input is estimated.
      const estimated = seen.usage === null && record.operation === 'embed'
      if (estimated) expect(record.tokens).toMatchObject({ input: expect.any(Number), output: 0, source: 'estimated' })
      else expect(record.tokens).toEqual(seen.usage)
      expect(record.request_bytes).toBeGreaterThan(0)
      return record
    },
    assertClean() {
      for (const lane of laneNames) mocks[lane].assertClean()
    },
    async close() {
      await gateway.stop()
      await Promise.all(laneNames.map((lane) => mocks[lane].close()))
    },
  }
}
