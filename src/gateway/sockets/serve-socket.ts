import { errorTable, type Fault, fault } from '../../core/errors.ts'
import { effectivePolicy } from '../../policy/admit.ts'
import type { Peer } from '../../providers/socket-peer.ts'
import { skipCapture } from '../capture.ts'
import type { Exchange } from '../exchange.ts'
import type { Gateway } from '../gateway.ts'
import { headersDown } from '../headers.ts'
import { checkObjects } from '../objects/check-objects.ts'
import { admit, identify, keepInspection } from '../pipeline.ts'
import { relay } from '../relay.ts'
import { ownHeaders, refuse, settleStopped } from '../respond.ts'
import { acceptHandshake, checkHandshake, type Upgrade } from '../server-socket.ts'
import { clientClosed, settle } from '../settle.ts'
import { Bridge } from './bridge.ts'
import { FramesDown } from './frames-down.ts'
import { FramesUp } from './frames-up.ts'
import { maxFrame, type OpenedProvider, openProvider } from './open-provider.ts'

/**
 * The story of one WebSocket: admit → plan → dial → answer 101 → pass frames → settle. Until the 101 it is refused like any
 * request. Where the first frame names the model the client gets its 101 before there is a provider, and is told of what
 * fails then by the protocol's own means.
 */
export async function serveSocket(gateway: Gateway, exchange: Exchange, upgrade: Upgrade): Promise<void> {
  const refused =
    identify(gateway, exchange) ?? checkHandshake(exchange.request) ?? read(exchange) ?? admit(gateway, exchange)
  if (exchange.stopped) return settleStopped(gateway, exchange)
  if (refused !== null) return refuse(gateway, exchange, refused)
  skipCapture(exchange, effectivePolicy(gateway.model.configuration.policies, exchange.key!).capture)
  if (!((await checkObjects(gateway, exchange)) ?? true)) return
  if (exchange.match!.endpoint.model === 'body') return pass(gateway, exchange, upgrade, null)

  const opened = await openProvider(gateway, exchange)
  switch (opened.kind) {
    case 'gone':
      return settleStopped(gateway, exchange)
    case 'failed':
      return refuse(gateway, exchange, opened.fault)
    case 'refused':
      return relay(gateway, exchange, opened.answer, opened.retryAfterMs)
    case 'open':
      return pass(gateway, exchange, upgrade, opened.end)
  }
}

function read(exchange: Exchange): Fault | null {
  const { socket } = exchange.match!.endpoint
  if (socket === null) return fault('unknown_path')
  return keepInspection(
    exchange,
    socket.handshake(exchange.match!, exchange.query, exchange.clientSecret?.model ?? null),
  )
}

async function pass(
  gateway: Gateway,
  exchange: Exchange,
  upgrade: Upgrade,
  provider: OpenedProvider | null,
): Promise<void> {
  const client = accept(gateway, exchange, upgrade, provider)
  if (client === null) {
    provider?.peer.terminate()
    return settle(gateway, exchange, { status: errorTable.internal.status, error: clientClosed, tokens: null })
  }
  const reader = exchange.match!.endpoint.socket!.reader()
  const down = new FramesDown(gateway, exchange, reader)
  const up = new FramesUp(gateway, exchange, down)
  if (provider !== null) up.standsWith(provider)
  const bridge: Bridge = new Bridge({
    ...{ gateway, exchange, reader, client, provider },
    lookUp: (frame) => up.look(frame, bridge),
    lookDown: (frame) => down.look(frame),
  })
  return bridge.run()
}

function accept(gateway: Gateway, exchange: Exchange, upgrade: Upgrade, provider: OpenedProvider | null): Peer | null {
  exchange.response.detachSocket(exchange.request.socket)
  const passed = provider === null ? [] : withoutHandshake(headersDown(provider.headers, null))
  return acceptHandshake(upgrade, [...passed, ...ownHeaders(gateway, exchange)], maxFrame(gateway, exchange))
}

/** The handshake itself is between each two sides. */
function withoutHandshake(headers: readonly string[]): string[] {
  return headers.filter((_text, index) => !headers[index - (index % 2)]!.startsWith('sec-websocket-'))
}
