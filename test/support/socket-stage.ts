import { expect } from 'vitest'
import { type DataPlane, startDataPlane } from './data-plane.ts'
import { makeRoute, makeTarget } from './snapshot.ts'
import { dial, Refused, type SocketProvider, startSocketProvider } from './sockets.ts'

/** One data-plane thread before a provider of WebSockets for two lanes. */
export interface SocketStage {
  provider: SocketProvider
  plane: DataPlane
  bearer(): { headers: { authorization: string } }
  realtime(query?: string): string
  /** Both ends, once both stand. */
  connect(url?: string, options?: DialOptions): ReturnType<typeof connect>
  refused(url: string, options?: DialOptions): Promise<Refused>
  stop(): Promise<void>
}

type DialOptions = Parameters<typeof dial>[1]

export const live = `/v1/gemini/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent`

export async function openSocketStage(): Promise<SocketStage> {
  const provider = await startSocketProvider()
  const plane = await startDataPlane({
    providers: [
      { kind: 'openai', baseUrl: `${provider.baseUrl}/v1`, credentials: ['sk-provider-credential'] },
      { kind: 'demo', baseUrl: 'demo:', credentials: [] },
      { kind: 'gemini', baseUrl: provider.baseUrl, credentials: ['AIza-provider-credential'] },
    ],
    policies: [
      { id: 'pol_voice', name: 'voice only', attachedTo: { workspace: false, ids: [] }, allowModels: ['voice'] },
    ],
    routes: [
      makeRoute('voice', [makeTarget('openai:gpt-realtime')], { retries: 0 }),
      makeRoute('talk', [makeTarget('gemini:gemini-live')], { retries: 0 }),
      makeRoute('twice', [makeTarget('openai:first'), makeTarget('openai:second', { priority: 1 })], { retries: 0 }),
      makeRoute('other', [makeTarget('openai:gpt-other')], { retries: 0 }),
    ],
  })
  const bearer = () => ({ headers: { authorization: `Bearer ${plane.key}` } })
  const realtime = (query = '?model=voice') => `${plane.baseUrl}/v1/realtime${query}`
  return {
    provider,
    plane,
    bearer,
    realtime,
    connect: (url = realtime(), options = bearer()) => connect(provider, url, options),
    refused: (url, options = bearer()) => refused(url, options),
    async stop() {
      await plane.stop()
      await provider.stop()
    },
  }
}

async function connect(provider: SocketProvider, url: string, options: DialOptions) {
  const [client, accepted] = await Promise.all([dial(url, options), provider.accepted()])
  return { client, provider: accepted.end, request: accepted.request }
}

async function refused(url: string, options: DialOptions): Promise<Refused> {
  const error = await dial(url, options).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(Refused)
  return error as Refused
}
