import { formatNames } from '../core/format.ts'
import type { ProviderKind, Transport } from './contract.ts'
import { sendDeferred } from './deferred-sending.ts'
import { demoModels } from './demo/behaviour.ts'
import { classifyStatus } from './wire/status.ts'

let player: Transport | null = null

/** Loaded with the first call: it is a thirtieth of a thread's script, and most gateways never need it. */
const transport: Transport = {
  send(request, sink) {
    if (player !== null) return player.send(request, sink)
    const loading = import('./demo/transport.ts').then(({ createDemoTransport }) => {
      player ??= createDemoTransport()
      return { request, sink, transport: player }
    })
    return sendDeferred(transport, sink, loading)
  },
}

/** Answers in the process, so that a newcomer's first request works without any account. Its models: `demo/behaviour.ts`. */
export const demo: ProviderKind = {
  kind: 'demo',
  title: 'Demo (built in)',
  description: 'Built-in test provider, no network or account needed',
  isUnsupported: (_settings, operation) => operation === 'responses.socket',
  lanes: ['openai', 'anthropic', 'gemini'],
  formats: formatNames,
  defaultBaseUrl: 'demo:',
  credential: 'none',
  settings: {},
  address: (_provider, lane, path) => ({ origin: `demo:${lane}`, path }),
  headers: () => [],
  classify: (head, error) => classifyStatus(head, error),
  scrub: (body) => body,
  check: null,
  fixedModels: demoModels,
  transport,
  unsupported: () => [],
}
