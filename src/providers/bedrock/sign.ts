import type { OutboundRequest } from '../contract.ts'
import { textOf } from '../credential.ts'
import { bytesOf } from '../wire/anthropic-hosted.ts'
import type { JsonObject } from '../wire/json.ts'

/**
 * Signature Version 4 with an access key. Signed is only what says where the call goes and what it holds: whatever lies
 * between may touch other headers.
 */
export async function sign(request: OutboundRequest, document: JsonObject, region: string): Promise<OutboundRequest> {
  const { SignatureV4, Sha256 } = await import('./signature.ts')
  const token = textOf(document, 'session_token')
  const signer = new SignatureV4({
    service: 'bedrock',
    region,
    sha256: Sha256,
    credentials: {
      accessKeyId: textOf(document, 'access_key_id'),
      secretAccessKey: textOf(document, 'secret_access_key'),
      ...(token === '' ? {} : { sessionToken: token }),
    },
  })
  const [path = '', search = ''] = request.path.split(/\?(.*)/s)
  const { protocol, hostname, host } = new URL(request.origin)
  const signed = await signer.sign({
    method: request.method,
    protocol,
    hostname,
    path,
    query: Object.fromEntries(new URLSearchParams(search)),
    headers: { host },
    body: bytesOf(request.body),
  })
  return { ...request, headers: [...request.headers, ...Object.entries(signed.headers).flat()] }
}
