import { once } from 'node:events'
import type { Lane } from '../../../src/lanes/contract.ts'
import { lanes } from '../../../src/lanes/index.ts'
import { type Dialled, dial, Refused, type SocketProvider } from '../sockets.ts'
import { type Fate, usage, usageMetadata, type WalkedGateway, type WalkStep } from './limits-walk.ts'

export const socketRows = lanes.flatMap((lane) =>
  lane.endpoints.flatMap((endpoint) =>
    endpoint.method === 'SOCKET' && endpoint.served === 'provider'
      ? [{ name: `${lane.name} ${endpoint.path}`, lane, endpoint }]
      : [],
  ),
)

/** The refusal last: a provider that refused one of these is asked for no other. */
export const socketFates: readonly Fate[] = ['answered', 'cut', 'refused']

/** One connection, until nothing is left of it; the id of its request, null where the handshake was refused. */
export async function playSocket(
  { baseUrl, key }: WalkedGateway,
  sockets: SocketProvider,
  lane: Lane,
  { row: endpoint, fate }: Pick<WalkStep, 'row' | 'fate'>,
): Promise<string | null> {
  const model = `${lane.name}-model`
  const path = endpoint.path.replace('{version}', 'v1beta').replaceAll(/\{\w+\}/g, 'obj_1')
  const query = endpoint.model === 'query' ? `?model=${model}` : ''
  const url = baseUrl + lane.prefix + path + query
  const opening =
    lane.name === 'gemini'
      ? { setup: { model: `models/${model}` } }
      : endpoint.operation.startsWith('responses')
        ? { type: 'response.create', model, input: 'x' }
        : { type: 'session.update', session: { model } }
  sockets.refuse(fate === 'refused' ? () => ({ status: 403, headers: {}, body: '{}' }) : null)
  let end: Dialled
  try {
    end = await dial(url, { headers: { authorization: `Bearer ${key}` } })
  } catch (reason) {
    if (reason instanceof Refused) return null
    throw reason
  }
  end.send(opening)
  if (fate === 'refused') await once(end.socket, 'close')
  else {
    const { end: far } = await sockets.accepted()
    if (endpoint.model !== 'query' || lane.name !== 'openai') await far.next()
    const isGemini = lane.name === 'gemini'
    const begun = isGemini
      ? [{ serverContent: { modelTurn: { parts: [{ text: 'so far' }] } } }]
      : [
          { type: 'response.created', response: { id: 'resp_1' } },
          { type: 'response.output_text.delta', delta: 'so far' },
        ]
    const type = endpoint.operation === 'realtime' ? 'response.done' : 'response.completed'
    const ended = isGemini
      ? { serverContent: { turnComplete: true }, usageMetadata }
      : { type, response: { id: 'resp_1', usage } }
    const frames = fate === 'answered' ? [...begun, ended] : begun
    for (const frame of frames) far.send(frame)
    for (const _frame of frames) await end.next()
    if (fate === 'answered') end.socket.close(1000)
    else far.socket.terminate()
    await once(end.socket, 'close')
  }
  return end.requestId
}
