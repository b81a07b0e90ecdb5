import { bytesPerToken } from '../../../core/cost/estimated-tokens.ts'
import { type Fault, fault } from '../../../core/errors.ts'
import { type Span, scanElements, scanObject, shortValue } from '../../../core/json/json-scan.ts'
import { isCount, readValue } from '../../../core/json/json-value.ts'
import { addBatchAsk, type BatchAsk } from '../../../core/objects/batch-input.ts'
import type { Endpoint, Inspection, NamedModel } from '../../contract.ts'
import { JsonMembers, JsonText, type JsonValue, readTree, tooManyValues } from '../../json-tree.ts'
import { isFault, isLongName, longModel } from '../../request-body.ts'
import { type BodyRules, inspectJson } from '../inspection.ts'

/** Names of members from the top of a body down. `*`: any member. A list stands for each of its elements. */
type MemberPath = readonly string[]

/** A grader that asks a model, and one that combines others. */
const graderAt = (...place: MemberPath): readonly MemberPath[] => [
  [...place, 'model'],
  [...place, 'graders', 'model'],
  [...place, 'graders', '*', 'model'],
]

/** Where calls name models below the top level of their bodies. Source: the vendor's SDK, `evals`, `graders`, `fine-tuning`. */
export const places = {
  criteria: graderAt('testing_criteria'),
  grader: graderAt('grader'),
  tuning: graderAt('method', 'reinforcement', 'grader'),
  run: [['data_source', 'model']],
} as const

/** Each model is checked against policies and routes. */
const mostModels = 50

/** Like `inspectJson`, with the models at these places: the key must be allowed to use each of them. */
export function inspectNested(where: readonly MemberPath[], rules: BodyRules = {}): Endpoint['inspect'] {
  const inspect = inspectJson(rules)
  return (match, query, body) => {
    const found = inspect(match, query, body)
    if (isFault(found) || body.length === 0) return found
    const named = readNested(body, where, found)
    if (isFault(named)) return named
    const [first, ...additionalModels] = named
    const plain = first === undefined ? found : { ...found, model: first.name, modelSpans: first.spans }
    return additionalModels.length === 0 ? plain : { ...plain, additionalModels }
  }
}

function readNested(
  body: Buffer,
  where: readonly MemberPath[],
  { model, modelSpans }: Inspection,
): readonly NamedModel[] | Fault {
  const tree = readTree(body)
  if (tree === null) return tooManyValues
  const models = new Map<string, NamedModel>()
  if (model !== null) models.set(model, { name: model, spans: [...modelSpans] })
  for (const place of where) {
    const texts: JsonText[] = []
    const odd = collect(tree.root, place, texts)
    if (odd !== null) return odd
    for (const { span } of texts) {
      if (isLongName(span)) return longModel
      const name = readValue(body, span)
      if (typeof name !== 'string' || name === '') continue
      models.getOrInsertComputed(name, () => ({ name, spans: [] })).spans.push(span)
      if (models.size > mostModels) return tooManyModels
    }
  }
  return [...models.values()]
}

const tooManyModels = fault('invalid_request', `The body names more than ${mostModels} models; name fewer at a time.`, {
  param: 'model',
})

/** What is checked here must be what the provider reads, so a name in another letter case does not match. */
function collect(value: JsonValue, [step, ...rest]: MemberPath, texts: JsonText[]): Fault | null {
  if (value instanceof JsonText) {
    if (step === undefined) texts.push(value)
    return null
  }
  const inside =
    value instanceof JsonMembers
      ? value.entries.filter(({ name }) => step === '*' || name === step)
      : (value ?? []).map((element) => ({ name: '', written: '', value: element }))
  for (const { name, written, value: each } of inside) {
    if (value instanceof JsonMembers && step !== '*' && written !== name) return misspelled(written, name)
    const place = value instanceof JsonMembers ? rest : [...(step === undefined ? [] : [step]), ...rest]
    const odd = collect(each, place, texts)
    if (odd !== null) return odd
  }
  return null
}

function misspelled(written: string, meant: string): Fault {
  const message = `\`${written}\` must be written \`${meant}\`: servers disagree whether it is the same.`
  return fault('invalid_request', message, { param: meant })
}

const modelsOf = ({ model, additionalModels = [] }: Inspection): string[] => [
  ...(model === null ? [] : [model]),
  ...additionalModels.map(({ name }) => name),
]

const samplingLimits = ['max_completion_tokens', 'max_completions_tokens', 'max_output_tokens', 'max_tokens']

/**
 * The model is asked once for each item, with the same template around it, and each grader of the eval once for each answer. A file with an
 * unknown number of items counts as one. `inputs`: of files without a model, and of graders with theirs.
 */
export function askedByEvalRun(inspection: Inspection, body: Buffer, inputs: readonly BatchAsk[]): readonly BatchAsk[] {
  const contents = spansAt(body, 'data_source', 'source', 'content')
  const items = contents.flatMap((content) => scanElements(body, content) ?? [content])
  const files = inputs.filter(({ model }) => model === null)
  const lines = Math.max(
    1,
    files.reduce((sum, file) => sum + file.lines, items.length),
  )
  const bytes = items.reduce(
    (sum, { start, end }) => sum + end - start,
    files.reduce((sum, file) => sum + file.bytes, 0),
  )
  const longest = Math.max(0, ...files.map((file) => file.longest), ...items.map(({ start, end }) => end - start))
  const template = body.length - contents.reduce((sum, { start, end }) => sum + end - start, 0)
  const limit = limitAt(body, 'data_source')
  const own = { lines, bytes: bytes + lines * template, longest: longest + template }
  const answer = (limit ?? 0) * bytesPerToken
  return [
    ...modelsOf(inspection).map((model) => askOf({ model, ...own }, limit)),
    ...inputs
      .filter(({ model }) => model !== null)
      .map((grader) => ({
        ...{ model: grader.model, lines: lines * grader.lines, output: lines * grader.output, unlimited: 0 },
        bytes: lines * grader.bytes + (bytes + lines * answer) * grader.lines,
        longest: grader.longest + longest + answer,
      })),
  ]
}

/** Held for a grader without an output limit, since it only answers with a score or a label. */
const gradeTokens = 1024

/** What an eval's graders ask for each item of a run. The run itself does not name them. */
export const inspectCriteria: Endpoint['inspect'] = (match, query, body) => {
  const found = inspectNested(places.criteria)(match, query, body)
  if (isFault(found)) return found
  const asks = new Map<string, BatchAsk>()
  const criteria = spansAt(body, 'testing_criteria')
  for (const span of criteria.flatMap((list) => scanElements(body, list) ?? [])) {
    const bytes = span.end - span.start
    const output = limitIn(body, spansWithin(body, [span], ['sampling_params'])) ?? gradeTokens
    for (const named of spansWithin(body, [span], ['model'])) {
      const model = readValue(body, named)
      if (typeof model === 'string') addBatchAsk(asks, { model, bytes, output })
    }
  }
  // For a combined grader, the whole text is counted for each of its parts.
  const bytes = criteria.reduce((sum, { start, end }) => sum + end - start, 0)
  const asked = new Set(Array.from(asks.values(), ({ model }) => model))
  for (const model of new Set(modelsOf(found)).difference(asked))
    addBatchAsk(asks, { model, bytes, output: gradeTokens })
  return { ...found, asks: [...asks.values()] }
}

/** One answer of each of its models. */
export function askedByGrader(inspection: Inspection, body: Buffer): readonly BatchAsk[] {
  const limit = limitAt(body, 'grader')
  const { length } = body
  return modelsOf(inspection).map((model) => askOf({ model, lines: 1, bytes: length, longest: length }, limit))
}

function askOf(ask: Pick<BatchAsk, 'model' | 'lines' | 'bytes' | 'longest'>, limit: number | null): BatchAsk {
  const { lines } = ask
  return limit === null ? { ...ask, output: 0, unlimited: lines } : { ...ask, output: limit * lines, unlimited: 0 }
}

/** The largest limit for an answer; null: there is none, or one that is not a count. */
function limitAt(body: Buffer, holder: string): number | null {
  return limitIn(body, spansAt(body, holder, 'sampling_params'))
}

function limitIn(body: Buffer, sampling: readonly Span[]): number | null {
  const values = samplingLimits
    .flatMap((name) => spansWithin(body, sampling, [name]))
    .map((span) => readValue(body, span, shortValue))
    .filter((value) => value !== null)
  return values.length > 0 && values.every(isCount) ? Math.max(...values) : null
}

function spansAt(body: Buffer, ...path: MemberPath): readonly Span[] {
  return spansWithin(body, [{ start: 0, end: body.length }], path)
}

function spansWithin(body: Buffer, spans: readonly Span[], path: MemberPath): readonly Span[] {
  return path.reduce<readonly Span[]>(
    (within, name) =>
      within.flatMap((span) => {
        const scan = scanObject(body, [name], span)
        return scan.ok ? scan.members : []
      }),
    spans,
  )
}
