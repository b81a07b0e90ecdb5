import type { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { Settings } from '../config/settings.ts'

interface Reaching {
  flags: string[]
  origin: string
}

/** A call that works when it is pasted into a shell on this machine, whatever certificate the gateway has. */
export function writeDemoCall(
  gateway: Settings['gateway'],
  gatewayUrl: string,
  leaf: X509Certificate | null,
  key: string,
): string {
  const { flags, origin } = reach(gateway, gatewayUrl, leaf)
  return [
    'Try it:',
    `  curl -s ${[...flags, `${origin}/v1/chat/completions`].join(' ')} -H 'Authorization: Bearer ${key}' \\`,
    `    -H 'Content-Type: application/json' -d '{"model":"demo","messages":[{"role":"user","content":"hello"}]}'`,
    '',
  ].join('\n')
}

/** Behind `gateway.url` stands what its clients believe; otherwise curl is told to believe the gateway's own certificate. */
function reach(gateway: Settings['gateway'], gatewayUrl: string, leaf: X509Certificate | null): Reaching {
  if (leaf === null || gateway.tls === null || gateway.url !== null) return { flags: [], origin: gatewayUrl }
  const believed = ['--cacert', quote(gateway.tls.cert)]
  const { hostname, port } = new URL(gatewayUrl)
  const host = hostname.replace(/^\[|\]$/g, '')
  const covered = isIP(host) === 0 ? leaf.checkHost(host) : leaf.checkIP(host)
  if (covered !== undefined) return { flags: believed, origin: gatewayUrl }
  const name = nameOf(leaf)
  if (name === null) return { flags: ['--insecure'], origin: gatewayUrl }
  return { flags: [...believed, '--connect-to', `::${hostname}:${port}`], origin: `https://${name}:${port}` }
}

/** One that the certificate is made out to, a wildcard filled in. */
function nameOf(leaf: X509Certificate): string | null {
  const named = /DNS:([^\s,"]+)/.exec(leaf.subjectAltName ?? '') ?? /^CN=(\S+)$/m.exec(leaf.subject)
  return named?.[1]?.replace('*', 'gateway') ?? null
}

function quote(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}
