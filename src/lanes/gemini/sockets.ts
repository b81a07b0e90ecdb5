import { scanObject } from '../../core/json-scan.ts'
import { asObject, asText, parseObject, readValue } from '../../core/json-value.ts'
import type { TokenUsage, UsageDetail } from '../../core/record.ts'
import type { ObjectName } from '../../core/stored-object.ts'
import type { EndpointSocket, IssuedCredentials, Match, SocketReader, SocketReading, TurnUsage } from '../contract.ts'
import { emptyReading } from '../frames.ts'
import { forwardedQuery } from '../query.ts'
import { emptyInspection } from '../request-body.ts'
import { addUsage, addUsageDetail } from '../usage-sum.ts'
import { readStreamedError } from './errors.ts'
import { nameHandle } from './names.ts'
import { askMessage } from './setup-frame.ts'
import { readGenerateDetail, readLiveUsage } from './usage.ts'

/** `bodyOf`: the call whose rules for references apply to frames. */
export function liveSocket(bodyOf: Match): EndpointSocket {
  return {
    handshake: (_match, query, tokenModel) => ({
      ...emptyInspection(tokenModel, forwardedQuery(query)),
      streamed: true,
    }),
    ask: (frame) => askMessage(frame, bodyOf),
    reader: () => new LiveReader(),
    // The vendor ends with a closing frame and its reason; its SDKs know no frame for an error.
    errorFrame: () => null,
  }
}

/** The token is the created object's name. The answer has an expiry only if one was requested. */
export function readAuthToken(body: Buffer): IssuedCredentials | null {
  const answer = parseObject(body)
  const name = asText(answer?.name)
  const expiresAt = Date.parse(asText(answer?.expireTime) ?? '')
  return name === null ? null : { secrets: [name], expiresAt: Number.isNaN(expiresAt) ? null : expiresAt }
}

/** A client can resume the session with it on another connection. */
function resumptionHandle(update: unknown): ObjectName[] {
  const handle = asText(asObject(update)?.newHandle)
  return handle === null ? [] : [nameHandle(handle)]
}

const wanted = ['serverContent', 'usageMetadata', 'sessionResumptionUpdate', 'error']
const turnEnds = ['turnComplete', 'interrupted']

/** Reads what the provider sends on a Live connection. Each message reports only its own usage. */
class LiveReader implements SocketReader {
  turn: TurnUsage | null = null
  #usage: TokenUsage | null = null
  #detail: UsageDetail | null = null
  #busy = false

  frame(frame: Buffer): SocketReading {
    this.turn = null
    const scan = scanObject(frame, wanted)
    if (!scan.ok) return emptyReading
    let reading = emptyReading
    for (const { name, start, end } of scan.members) {
      if (name === 'serverContent') {
        const content = scanObject(frame, turnEnds, { start, end })
        this.#busy = content.ok && content.members.length === 0
        continue
      }
      const value = readValue(frame, { start, end })
      if (name === 'sessionResumptionUpdate') reading = { ...reading, created: resumptionHandle(value) }
      else if (name === 'usageMetadata') {
        this.turn = { tokens: readLiveUsage(value), detail: readGenerateDetail(value) }
        this.#usage = addUsage(this.#usage, this.turn.tokens)
        this.#detail = addUsageDetail(this.#detail, this.turn.detail)
      } else if (typeof value === 'object' && value !== null)
        reading = { ...reading, error: readStreamedError({ ...value }) }
    }
    return reading
  }

  usage(): TokenUsage | null {
    return this.#usage
  }

  usageDetail(): UsageDetail | null {
    return this.#detail
  }

  busy(): boolean {
    return this.#busy
  }
}
