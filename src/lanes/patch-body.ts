import { type Edit, type ObjectScan, type Span, scanObject, shortValue } from '../core/json/json-scan.ts'
import { isCount, readValue } from '../core/json/json-value.ts'
import type { BodyPatch, Inspection } from './contract.ts'
import type { OutputLimits } from './output-limits.ts'
import { countPrompts } from './request-body.ts'

export interface ByteEdit {
  span: Span
  text: string | Buffer
}

/** The body for the provider: with models renamed and usage requested, as the patch says. */
export function patchBody(body: Buffer, inspection: Inspection, change: BodyPatch): Buffer {
  const edits: Edit[] = []
  if (change.renameTo !== null) rename(inspection.modelSpans, change.renameTo, edits)
  for (const [index, { name, spans }] of (inspection.additionalModels ?? []).entries()) {
    const to = change.renameAdditionalTo?.[index] ?? name
    if (to !== name) rename(spans, to, edits)
  }
  if (change.askForUsage && inspection.usagePatch !== null) edits.push(inspection.usagePatch)
  edits.push(...promptEdits(change, namesIn(inspection)))
  if (change.cap !== undefined) {
    const { limits, most, written } = change.cap
    edits.push(...capOutput(body, limits, most, written), ...capFallbacks(body, inspection, most))
  }
  return applyEdits(body, edits)
}

function namesIn({ modelSpans, additionalModels }: Inspection): readonly Span[] {
  if (additionalModels === undefined) return modelSpans
  return [...modelSpans, ...additionalModels.flatMap(({ spans }) => spans)]
}

/** Models to fall back to may answer no longer than the one that is asked. */
function capFallbacks(body: Buffer, { fallbackLimits, answers }: Inspection, most: number): Edit[] {
  const each = Math.max(1, Math.floor(most / answers))
  const tooMuch = (fallbackLimits?.spans ?? []).filter((span) => {
    const value = readValue(body, span, shortValue)
    return !isCount(value) || value > each
  })
  return tooMuch.map((span) => replace(span, String(each)))
}

const noEdits: readonly Edit[] = []

/** Edits of the prompt's texts. A model's name is not such a text, wherever it is, nor is a part that is removed. */
export function promptEdits(
  { contentEdits, carrierEdits = noEdits }: BodyPatch,
  models: readonly Span[],
): readonly Edit[] {
  if (contentEdits === undefined) return carrierEdits
  const taken = new Set(models.map(({ start }) => start))
  const leftOut = inOrder(carrierEdits)
  let next = 0
  const hidden = (leftOut.length === 0 ? contentEdits : inOrder(contentEdits)).filter(({ span: { start } }) => {
    while (next < leftOut.length && (leftOut[next]?.span.end ?? start) <= start) next++
    return !taken.has(start) && !((leftOut[next]?.span.start ?? Number.POSITIVE_INFINITY) <= start)
  })
  return [...hidden, ...carrierEdits]
}

function inOrder<T extends ByteEdit>(edits: readonly T[]): readonly T[] {
  return edits.toSorted((one, other) => one.span.start - other.span.start)
}

function rename(spans: readonly Span[], name: string, edits: Edit[]): void {
  const text = JSON.stringify(name)
  for (const span of spans) edits.push({ span, text })
}

/** The body with each span replaced; the same buffer when there is nothing to replace. Spans must not overlap. */
export function applyEdits(body: Buffer, edits: readonly ByteEdit[]): Buffer {
  if (edits.length === 0) return body
  const [only] = edits
  if (edits.length === 1 && only !== undefined) return applyEdit(body, only)
  const pieces: Buffer[] = []
  let from = 0
  for (const edit of inOrder(edits)) {
    pieces.push(body.subarray(from, edit.span.start), asBytes(edit.text))
    from = edit.span.end
  }
  pieces.push(body.subarray(from))
  return Buffer.concat(pieces)
}

/** Most bodies that change have one edit. */
function applyEdit(body: Buffer, { span: { start, end }, text }: ByteEdit): Buffer {
  const bytes = asBytes(text)
  const edited = Buffer.allocUnsafe(body.length - (end - start) + bytes.length)
  body.copy(edited, 0, 0, start)
  bytes.copy(edited, start)
  body.copy(edited, start + bytes.length, end)
  return edited
}

function asBytes(text: string | Buffer): Buffer {
  return typeof text === 'string' ? Buffer.from(text) : text
}

type LimitSpans = Extract<ObjectScan, { ok: true }>

/** Edits that make the body allow at most this many tokens. `written`: the name of the limit to add if the body has none. */
export function capOutput(body: Buffer, limits: OutputLimits, most: number, written: string): Edit[] {
  const { names, choices, within } = limits
  const wanted = [...names, ...choices, ...(limits.prompts === undefined ? [] : [limits.prompts])]
  const root = scanObject(body, within ?? wanted)
  if (!root.ok) return []
  if (within === null) return capObject(body, root, limits, most, written)
  const limit = `{${JSON.stringify(written)}:${most}}`
  if (root.members.length === 0) return [insertInto(root, `${JSON.stringify(within[0])}:${limit}`)]
  return root.members.flatMap((holder) => {
    const scan = scanObject(body, wanted, holder)
    if (scan.ok) return capObject(body, scan, limits, most, written)
    return readValue(body, holder, shortValue) === null ? [replace(holder, limit)] : []
  })
}

function capObject(body: Buffer, object: LimitSpans, limits: OutputLimits, most: number, written: string): Edit[] {
  const { names, choices } = limits
  const given = object.members
    .filter(({ name }) => name !== limits.prompts)
    .map((member) => ({ member, value: readValue(body, member, shortValue) }))
  const times = given.flatMap(({ member, value }) => (choices.includes(member.name) && isCount(value) ? [value] : []))
  const answers = Math.max(1, ...times) * countPrompts(body, object.members, limits)
  const each = Math.max(1, Math.floor(most / answers))
  const set = given.filter(({ member, value }) => names.includes(member.name) && value !== null)
  const empty = given.find(({ member }) => names.includes(member.name))
  if (set.length === 0 && empty !== undefined) return [replace(empty.member, String(each))]
  if (set.length === 0) return [insertInto(object, `${JSON.stringify(written)}:${each}`)]
  const tooMuch = set.filter(({ value }) => !isCount(value) || value > each)
  return tooMuch.map(({ member }) => replace(member, String(each)))
}

function insertInto({ start, empty }: LimitSpans, member: string): Edit {
  return { span: { start: start + 1, end: start + 1 }, text: empty ? member : `${member},` }
}

function replace({ start, end }: Span, text: string): Edit {
  return { span: { start, end }, text }
}
