import { type Fault, fault } from '../../core/errors.ts'
import { type Span, scanObject } from '../../core/json-scan.ts'
import type { TokenUsage } from '../../core/record.ts'
import type { FrameAsk, Inspection, LaneSockets, SocketReader, SocketReading } from '../contract.ts'
import { readValue } from '../json-value.ts'
import { plainReading } from '../plain-reading.ts'
import { forwardedQuery } from '../query.ts'
import { addUsage } from '../usage-sum.ts'
import { modelName } from './endpoints.ts'
import { readStreamedError } from './errors.ts'
import { readLiveUsage } from './usage.ts'

export const geminiSockets: LaneSockets = {
  handshake: (_match, query) => ({ ...plain, query: forwardedQuery(query) }),
  opensWithFrame: () => true,
  ask: (_match, frame) => askSetup(frame),
  reader: () => new LiveReader(),
  // The vendor's own end is a closing frame with a reason; its SDKs know no frame for a fault.
  errorFrame: () => null,
}

const plain: Inspection = {
  model: null,
  streamed: true,
  framing: null,
  query: '',
  modelSpans: [],
  endUser: null,
  outputLimit: null,
  stores: false,
  usageSplice: null,
}

/** The first frame, in text or binary, is `{"setup": {"model": "models/…"}}`. */
function askSetup(frame: Buffer): FrameAsk | Fault | null {
  const scan = scanObject(frame, ['setup'])
  if (!scan.ok || scan.members.length === 0) return null
  const models: { name: string; span: Span }[] = []
  for (const setup of scan.members) {
    const within = scanObject(frame, ['model'], setup)
    for (const member of within.ok ? within.members : []) {
      const value = readValue(frame, member)
      const name = typeof value === 'string' ? modelName(value) : null
      if (name === null) return badModel('`setup.model` is no name of a model; write it like `models/NAME`.')
      models.push({ name, span: { start: member.start, end: member.end } })
    }
  }
  if (new Set(models.map(({ name }) => name)).size > 1)
    return badModel('`setup.model` is given twice with different values; send it once.')
  const spans = models.map(({ span }) => span)
  const model = models[0] === undefined ? null : { name: models[0].name, spans }
  return { model, further: [], bodyOf: null }
}

function badModel(message: string): Fault {
  return fault('invalid_request', message, { param: 'setup.model' })
}

const wanted = ['serverContent', 'usageMetadata', 'error']
const turnEnds = ['turnComplete', 'interrupted']

/** What the provider sends on a Live connection: each of its messages reports what it took by itself. */
class LiveReader implements SocketReader {
  #usage: TokenUsage | null = null
  #busy = false

  frame(frame: Buffer): SocketReading {
    const scan = scanObject(frame, wanted)
    if (!scan.ok) return plainReading
    let reading = plainReading
    for (const { name, start, end } of scan.members) {
      if (name === 'serverContent') {
        const content = scanObject(frame, turnEnds, { start, end })
        this.#busy = content.ok && content.members.length === 0
        continue
      }
      const value = readValue(frame, { start, end })
      if (name === 'usageMetadata') this.#usage = addUsage(this.#usage, readLiveUsage(value))
      else if (typeof value === 'object' && value !== null)
        reading = { ...plainReading, error: readStreamedError({ ...value }) }
    }
    return reading
  }

  usage(): TokenUsage | null {
    return this.#usage
  }

  busy(): boolean {
    return this.#busy
  }
}
