/**
 * Traces in the JSON form of OTLP (github.com/open-telemetry/opentelemetry-proto): ids are hex, 64-bit numbers text, enumerations
 * numbers.
 */
export interface OtlpSpan {
  traceId: string
  spanId: string
  traceState?: string
  parentSpanId?: string
  flags: number
  name: string
  kind: 1 | 2 | 3
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: OtlpAttribute[]
  events?: OtlpEvent[]
  status?: { code: 2; message?: string }
}

export interface OtlpEvent {
  timeUnixNano: string
  name: string
  attributes: OtlpAttribute[]
}

export type OtlpValue =
  | { stringValue: string }
  | { boolValue: boolean }
  | { intValue: string }
  | { doubleValue: number }

export interface OtlpAttribute {
  key: string
  value: OtlpValue
}

export const serverKind = 2
export const clientKind = 3
/** Of a span's flags: the parent is in another process, or is known to be in this one. */
export const remoteParent = 0x300
export const localParent = 0x100
export const sampledFlag = 1

/** Attributes without those that are null, which are not known. */
export function attributesOf(values: Readonly<Record<string, string | number | boolean | null>>): OtlpAttribute[] {
  return Object.entries(values).flatMap(([key, value]) => (value === null ? [] : [{ key, value: otlpValue(value) }]))
}

function otlpValue(value: string | number | boolean): OtlpValue {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}

export interface Resource {
  version: string
  /** Of this run of the process. */
  instance: string
}

/** The body of one export. */
export function writeExport(spans: readonly OtlpSpan[], { version, instance }: Resource): string {
  if (spans.length === 0) return JSON.stringify({ resourceSpans: [] })
  const attributes = attributesOf({
    'service.name': 'spgw',
    'service.version': version,
    'service.instance.id': instance,
  })
  return JSON.stringify({
    resourceSpans: [{ resource: { attributes }, scopeSpans: [{ scope: { name: 'spgw', version }, spans }] }],
  })
}
