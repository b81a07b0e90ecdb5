/**
 * W3C Trace Context (https://www.w3.org/TR/trace-context/): what a client says of the trace that its request belongs to, and
 * the ids of the gateway's own spans. These follow from the record's id, so that the thread that names them to a provider and
 * the export that describes them agree, also after a restart, without either asking the other.
 */
export interface TraceContext {
  /** 32 hex digits. */
  trace_id: string
  /** The client's span, 16 hex digits. */
  parent_id: string
  /** False: whoever began the trace records none of it. */
  sampled: boolean
  /** `tracestate`, as it was sent. */
  state: string | null
}

/** Version, trace, parent, flags; later versions may add more behind a hyphen. */
const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const stateLimit = 512
/** As header values are, without controls. */
const stateForm = /^[\x20-\x7e]+$/

/** Null where it is not valid: then the request begins a trace of its own. */
export function readTraceContext(traceparent: string, tracestate: string | undefined): TraceContext | null {
  const [, version, trace = '', parent = '', flags = '', more] = form.exec(traceparent) ?? []
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return null
  if (/^0+$/.test(trace) || /^0+$/.test(parent)) return null
  return {
    trace_id: trace,
    parent_id: parent,
    sampled: (Number.parseInt(flags, 16) & 1) === 1,
    state: readState(tracestate),
  }
}

function readState(text: string | undefined): string | null {
  return text !== undefined && text.length <= stateLimit && stateForm.test(text) ? text : null
}

/** What the provider gets in place of the client's own: the same trace, with the attempt's span as the parent. */
export function writeTraceparent({ trace_id, sampled }: TraceContext, spanId: string): string {
  return `00-${trace_id}-${spanId}-${sampled ? '01' : '00'}`
}

/** Of a request whose client named no trace. */
export function ownTraceId(recordId: string): string {
  return hex(numberOf(recordId), 32)
}

/** Place 0 is the request's span, 1 that of its first attempt, and so on. */
export function spanIdOf(recordId: string, place: number): string {
  const mixed = mix(numberOf(recordId) + BigInt(place + 1) * 0x9e37_79b9_7f4a_7c15n)
  // No span has the id 0.
  return hex(mixed === 0n ? 1n : mixed, 16)
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** The 128 bits of an id. */
function numberOf(id: string): bigint {
  let number = 0n
  for (const character of id.slice(id.indexOf('_') + 1))
    number = number * 32n + BigInt(Math.max(0, alphabet.indexOf(character)))
  return BigInt.asUintN(128, number)
}

/** The finish of SplitMix64: one bit of difference changes half of the result. */
function mix(number: bigint): bigint {
  let mixed = BigInt.asUintN(64, number)
  mixed = BigInt.asUintN(64, (mixed ^ (mixed >> 30n)) * 0xbf58_476d_1ce4_e5b9n)
  mixed = BigInt.asUintN(64, (mixed ^ (mixed >> 27n)) * 0x94d0_49bb_1331_11ebn)
  return mixed ^ (mixed >> 31n)
}

function hex(number: bigint, digits: number): string {
  return number.toString(16).padStart(digits, '0')
}
