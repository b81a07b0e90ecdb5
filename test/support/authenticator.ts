import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto'
import { isoCBOR } from '@simplewebauthn/server/helpers'

export interface AuthenticatorTwist {
  origin?: string
  /** The site that it takes itself to be asked by. */
  rpId?: string
  /** Whether a person showed finger, face or PIN. */
  verified?: boolean
}

const encode = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')
const hash = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest()

/** An authenticator in software, with one key (ES256), as a browser's script would hand on what it says. */
export function makeAuthenticator(origin: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk = publicKey.export({ format: 'jwk' })
  const id = randomBytes(16)
  let counter = 0
  const coordinate = (text: string | undefined) => new Uint8Array(Buffer.from(text ?? '', 'base64url'))
  const cose = isoCBOR.encode(
    new Map<number, number | Uint8Array>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, coordinate(jwk.x)],
      [-3, coordinate(jwk.y)],
    ]),
  )

  function authenticatorData(rpId: string, verified: boolean, attested: boolean): Buffer {
    const flags = 0x01 | (verified ? 0x04 : 0) | (attested ? 0x40 : 0)
    const count = Buffer.alloc(4)
    count.writeUInt32BE(++counter)
    const head = Buffer.concat([hash(rpId), Buffer.from([flags]), count])
    if (!attested) return head
    return Buffer.concat([head, Buffer.alloc(16), Buffer.from([0, id.length]), id, Buffer.from(cose)])
  }

  const clientData = (type: string, challenge: string, at: string) =>
    Buffer.from(JSON.stringify({ type, challenge, origin: at, crossOrigin: false }))
  const answer = (response: object) => ({
    id: encode(id),
    rawId: encode(id),
    type: 'public-key',
    clientExtensionResults: {},
    response,
  })

  return {
    id: encode(id),
    register(options: { challenge: string; rp: { id: string } }, twist: AuthenticatorTwist = {}) {
      const authData = authenticatorData(twist.rpId ?? options.rp.id, twist.verified ?? true, true)
      const attestation = new Map<string, unknown>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', new Uint8Array(authData)],
      ])
      return answer({
        clientDataJSON: encode(clientData('webauthn.create', options.challenge, twist.origin ?? origin)),
        attestationObject: encode(isoCBOR.encode(attestation as Parameters<typeof isoCBOR.encode>[0])),
        transports: ['internal'],
      })
    },
    assert(options: { challenge: string; rpId: string }, twist: AuthenticatorTwist = {}) {
      const data = clientData('webauthn.get', options.challenge, twist.origin ?? origin)
      const authData = authenticatorData(twist.rpId ?? options.rpId, twist.verified ?? true, false)
      const signature = createSign('sha256').update(authData).update(hash(data)).sign(privateKey)
      return answer({
        clientDataJSON: encode(data),
        authenticatorData: encode(authData),
        signature: encode(signature),
      })
    },
  }
}
