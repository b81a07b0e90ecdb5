import http, { type RequestListener } from 'node:http'
import type { ContentRule } from '../../src/core/policies/content-rules.ts'
import type { SnapshotPolicy } from '../../src/store/configuration/snapshot.ts'
import { type DataPlane, type DataPlaneOptions, startDataPlane } from './data-plane.ts'
import { closeServer, listen } from './listen.ts'
import { makePolicy } from './snapshot.ts'

/** A data plane with one provider for each lane, for tests of content rules. `answer` serves all three providers. */
export class ContentPlane {
  readonly plane: DataPlane
  readonly #provider: http.Server

  private constructor(plane: DataPlane, provider: http.Server) {
    this.plane = plane
    this.#provider = provider
  }

  static async start(answer: RequestListener, options: Omit<DataPlaneOptions, 'providers'>): Promise<ContentPlane> {
    const provider = http.createServer(answer)
    const baseUrl = await listen(provider)
    const providers = [
      { kind: 'openai', baseUrl: `${baseUrl}/v1` },
      { kind: 'anthropic', baseUrl },
      { kind: 'gemini', baseUrl },
    ]
    return new ContentPlane(await startDataPlane({ providers, ...options }), provider)
  }

  async stop(): Promise<void> {
    await this.plane.stop()
    closeServer(this.#provider)
  }

  /** Sends a call with the key, to which the policy of that name applies from now on. */
  async send(policy: string, path: string, { headers, ...init }: RequestInit) {
    await this.plane.changeKey({ policyId: `pol_${policy}` })
    const response = await fetch(`${this.plane.baseUrl}/v1${path}`, {
      ...init,
      headers: { authorization: `Bearer ${this.plane.key}`, ...headers },
    })
    const text = await response.text()
    const record = await this.plane.record(response.headers.get('x-sp-request-id'))
    const signals = record.policy_signals.filter(({ rule }) => rule.startsWith('content'))
    return { status: response.status, headers: response.headers, text, record, signals }
  }
}

export function postJson(body: string | object): RequestInit {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: text }
}

/** A policy that applies only where a key names it. */
export function keyPolicy(name: string, rules: Parameters<typeof makePolicy>[1]): SnapshotPolicy {
  return makePolicy(name, { attachedTo: { workspace: false, ids: [] }, ...rules })
}

/** Blocks on the given sides, unless `parts` says otherwise. */
export function contentRule(name: string, on: ContentRule['on'], parts: Partial<ContentRule>): ContentRule {
  return { detector: null, pattern: null, action: 'block', reversible: false, longest: 200, on, name, ...parts }
}
