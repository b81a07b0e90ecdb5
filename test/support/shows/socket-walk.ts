import { once } from 'node:events'
import type { Lane } from '../../../src/lanes/contract.ts'
import { lanes } from '../../../src/lanes/index.ts'
import { type Dialled, dial, Refused, type SocketProvider } from '../sockets.ts'
import { usage, usageMetadata, type WalkedGateway, type WalkStep } from './limits-walk.ts'

export const socketRows = lanes.flatMap((lane) =>
  lane.endpoints.flatMap((endpoint) =>
    endpoint.method === 'SOCKET' && endpoint.served === 'provider'
      ? [{ name: `${lane.name} ${endpoint.path}`, lane, endpoint }]
      : [],
  ),
)

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
    if (fate === 'answered') {
      const ended =
        lane.name === 'gemini'
          ? [{ serverContent: { modelTurn: {} } }, { serverContent: { turnComplete: true }, usageMetadata }]
          : [
              { type: 'response.created', response: { id: 'resp_1' } },
              {
                type: endpoint.operation === 'realtime' ? 'response.done' : 'response.completed',
                response: { id: 'resp_1', usage },
              },
            ]
      for (const frame of ended) far.send(frame)
      for (const _frame of ended) await end.next()
      end.socket.close(1000)
    } else far.socket.terminate()
    await once(end.socket, 'close')
  }
  return end.requestId
}
