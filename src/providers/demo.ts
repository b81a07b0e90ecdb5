import type { ProviderKind } from './contract.ts'
import { demoModels } from './demo/behaviour.ts'
import { createDemoTransport } from './demo/transport.ts'
import { classifyStatus } from './wire/status.ts'

/** Answers in the process, so that a newcomer's first request works without any account. Its models: `demo/behaviour.ts`. */
export const demo: ProviderKind = {
  kind: 'demo',
  title: 'Demo (built in)',
  speaks: ['openai', 'anthropic', 'gemini'],
  defaultBaseUrl: 'demo:',
  credential: 'none',
  settings: {},
  address: (_provider, lane, path) => ({ origin: `demo:${lane}`, path }),
  headers: () => [],
  classify: (_lane, answer, body) => classifyStatus(answer, body),
  scrub: (body) => body,
  check: null,
  fixedModels: demoModels,
  transport: createDemoTransport(),
  lacks: () => [],
}
