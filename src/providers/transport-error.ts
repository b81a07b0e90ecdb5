import type { TransportFault } from './contract.ts'

const kinds: Record<string, TransportFault['kind']> = {
  UND_ERR_CONNECT_TIMEOUT: 'connect-timeout',
  ETIMEDOUT: 'connect-timeout',
  ECONNREFUSED: 'unreachable',
  ENOTFOUND: 'unreachable',
  EAI_AGAIN: 'unreachable',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  UND_ERR_DESTROYED: 'reset',
  UND_ERR_CLOSED: 'reset',
  UND_ERR_HEADERS_OVERFLOW: 'protocol',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'protocol',
  EPROTO: 'tls',
  EMFILE: 'exhausted',
  ENFILE: 'exhausted',
}

const noDescriptors = 'The gateway has no file descriptor left for a connection to the provider.'

const messages: Record<string, string> = {
  EMFILE: noDescriptors,
  ENFILE: noDescriptors,
  UND_ERR_CONNECT_TIMEOUT: 'No connection to the provider within the connect time limit.',
  ETIMEDOUT: 'No connection to the provider: the network gave up waiting.',
  ECONNREFUSED: 'The provider refused the connection: nothing listens at its address.',
  ENOTFOUND: "Cannot resolve the provider's host name.",
  EAI_AGAIN: "The provider's host name could not be looked up just now.",
  EHOSTUNREACH: 'There is no network path to the provider.',
  ENETUNREACH: 'There is no network path to the provider.',
  UND_ERR_DESTROYED: 'The gateway is shutting down.',
  UND_ERR_CLOSED: 'The gateway is shutting down.',
  UND_ERR_HEADERS_OVERFLOW: "The head of the provider's answer is too large.",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "The provider's answer is not as long as its content-length says.",
}

const tlsForm =
  /^(ERR_TLS|ERR_SSL|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_|HOSTNAME_MISMATCH|CRL_|INVALID_CA|INVALID_PURPOSE)/

/** Alerts that a client gets for its certificate, or for having none. Before TLS 1.3 the latter is but a failed handshake, as other things are. */
const certificateAlert =
  /ALERT_(CERTIFICATE_|BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED|HANDSHAKE_FAILURE)/

function describeAlert(code: string): string {
  if (code.includes('CERTIFICATE_REQUIRED')) return `The provider asks for a client certificate (${code}).`
  if (code.includes('HANDSHAKE_FAILURE'))
    return `The provider broke off the TLS handshake: it may ask for a client certificate (${code}).`
  return `The provider does not accept the client certificate, or that there is none (${code}).`
}

/**
 * An error of undici or the operating system as a fault. Only its code is told, never its text, which can hold bytes
 * of the answer or addresses. `connected`: the request was being written or its answer read. `proxied`: until then, whatever is not
 * reached is the proxy.
 */
export function describeTransportError(error: Error, connected: boolean, proxied = false): TransportFault {
  const code = readCode(error)
  // undici's socket error stands for a hang-up as well as for an answer that nobody asked for.
  if (code === 'UND_ERR_SOCKET' && /^bad (response|upgrade)$/.test(error.message)) {
    return { kind: 'protocol', message: 'The provider sent an interim answer that was not asked for.' }
  }
  if (certificateAlert.test(code)) return { kind: 'client-certificate', message: describeAlert(code) }
  if (tlsForm.test(code) || code === 'EPROTO' || /before secure TLS connection/.test(error.message)) {
    return { kind: 'tls', message: `The TLS handshake with the provider failed${code ? ` (${code})` : ''}.` }
  }
  if (code.startsWith('HPE_')) return { kind: 'protocol', message: `The provider's answer is not HTTP/1.1 (${code}).` }
  if (code === 'SPGW_DESTINATION_REJECTED') return { kind: 'refused', message: error.message }
  // A proxy that does not open the tunnel says so by a status, which undici puts into words.
  const answered = /^Proxy (?:response|Authentication Required) \((\d{3})\)/.exec(error.message)?.[1]
  if (answered !== undefined) return { kind: 'proxy', message: `The proxy refused the connection (${answered}).` }
  const kind = kinds[code]
  if (proxied && !connected && kind === 'unreachable')
    return { kind: 'proxy', message: `The proxy cannot be reached (${code}).` }
  if (kind === undefined) return { kind: connected ? 'protocol' : 'unreachable', message: unnamed(code, connected) }
  if (kind === 'reset' && !connected && code !== 'UND_ERR_DESTROYED' && code !== 'UND_ERR_CLOSED') {
    return { kind: 'unreachable', message: 'The provider closed the connection before it stood.' }
  }
  // Once connected, the kernel's time-out means that the peer vanished.
  if (code === 'ETIMEDOUT' && connected) return { kind: 'reset', message: 'The connection to the provider died.' }
  return { kind, message: messages[code] ?? 'The provider closed the connection before its answer was complete.' }
}

function readCode(error: Error): string {
  const code = 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : ''
}

function unnamed(code: string, connected: boolean): string {
  const what = connected ? "The call failed while the provider's answer was read" : 'The call could not be sent'
  return `${what}${code ? ` (${code})` : ''}.`
}
