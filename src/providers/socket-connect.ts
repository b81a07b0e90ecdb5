import http, { type ClientRequest } from 'node:http'
import https from 'node:https'
import net from 'node:net'
import tls from 'node:tls'
import { evaluateHost } from './address-guard.ts'
import type { EgressOptions, OutboundRequest } from './contract.ts'
import { connectOptions, DestinationRejected, trustOf } from './http-connect.ts'
import { type ChosenProxy, chooseProxy, type Proxies } from './proxy-choice.ts'

/** How a WebSocket's connection is opened: options of the library's, which hands them to `http.request`. */
export type SocketOptions = ReturnType<typeof connectOptions> | { createConnection: () => net.Socket }

/** By the same rules as any other call goes out. Throws `DestinationRejected`, at once or by the promise. */
export function chooseConnection(
  { origin, egress = null }: OutboundRequest,
  proxies: Proxies | null,
  track: (tunnel: ClientRequest) => void,
): SocketOptions | Promise<SocketOptions> {
  const proxy = chooseProxy(origin, egress, proxies)
  if (proxy === null) return connectOptions(origin, egress, false)
  // The name is resolved beyond the proxy: only what stands in it can be judged here.
  const { refused } = evaluateHost(new URL(origin).hostname, true)
  if (refused !== null) throw new DestinationRejected(refused)
  return openTunnel(new URL(origin), proxy, egress, track)
}

/** Through a proxy a WebSocket needs a tunnel, whatever its scheme: nothing but CONNECT lets frames pass. */
function openTunnel(
  target: URL,
  proxy: ChosenProxy,
  egress: EgressOptions | null,
  track: (tunnel: ClientRequest) => void,
): Promise<SocketOptions> {
  const { protocol, hostname, port, username, password } = new URL(proxy.url)
  const secure = target.protocol === 'https:'
  const authority = `${target.hostname}:${target.port || (secure ? 443 : 80)}`
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')
  const tunnel = (protocol === 'https:' ? https : http).request({
    ...connectOptions(proxy.url, egress, proxy.trusted),
    ...{
      method: 'CONNECT',
      host: hostname.replace(/^\[|\]$/g, ''),
      port: port || (protocol === 'https:' ? 443 : 80),
      path: authority,
      agent: false,
    },
    headers: { host: authority, ...(username === '' ? {} : { 'proxy-authorization': `Basic ${credentials}` }) },
  })
  track(tunnel)
  return new Promise((resolve, reject) => {
    tunnel.once('error', reject)
    tunnel.once('response', (response) => {
      response.destroy()
      reject(new DestinationRejected('The proxy refused the connection to the provider.'))
    })
    tunnel.once('connect', (response, socket) => {
      if (response.statusCode !== 200) {
        socket.destroy()
        return reject(
          new DestinationRejected(`The proxy refused the connection to the provider (${response.statusCode}).`),
        )
      }
      const servername = net.isIP(target.hostname) === 0 ? target.hostname : ''
      const connection = secure ? tls.connect({ socket, servername, ...trustOf(egress) }) : socket
      resolve({ createConnection: () => connection as net.Socket })
    })
    tunnel.end()
  })
}
