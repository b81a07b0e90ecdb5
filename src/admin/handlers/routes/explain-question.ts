import type { AskedTools } from '../../../core/cost/asked-tools.ts'
import { bytesPerToken } from '../../../core/cost/estimated-tokens.ts'
import type { LaneName } from '../../../core/lane.ts'
import type { UsageDetail } from '../../../core/record.ts'
import type { AdditionalModel } from '../../../routing/candidates.ts'
import type { AdminContext, Inspected, OperationFacts } from '../context.ts'
import { invalid, notFound } from '../fault.ts'
import type { RequestSize } from './figures.ts'

export interface ExplainInput {
  model?: string | undefined
  project: string
  environment: string
  key?: string | undefined
  lane?: LaneName | undefined
  body?: Record<string, string> | undefined
  request?: string | undefined
  user?: string | undefined
}

/** A request as far as it is known. */
export interface RouteQuestion extends RequestSize, OperationFacts {
  model: string
  /** That it names besides, as far as its body is known. Absent: none. */
  additionalModels?: readonly AdditionalModel[] | undefined
  /** The provider may answer with a model that nobody names. */
  leavesChoice?: true | undefined
  /** What it asks for that is not paid by the token. Absent or null: nothing that is known. */
  units?: UsageDetail | null
  /** What it lets tools of the provider do that is paid besides. Absent or null: nothing that is known. */
  tools?: AskedTools | null
  /** Those that it may be meant for, in the order in which they are tried. Empty: any. */
  lanes: readonly LaneName[]
  /** null: any call of the lane. */
  operation: string | null
  /** Whose it is, '' for nobody's; null: that is not known, and limits of each end user are left out. */
  user: string | null
  /** null: its body is not known, so neither is where its conversation has been. */
  conversation: { start: string | null; signature: string | null } | null
}

/** The request that is asked about, and where it was sent when it has been. */
export interface AskedRoute {
  questions: readonly RouteQuestion[]
  project: string
  environment: string
  key: string | null
  past: { id: string; provider: string | null; upstream_model: string | null; bytes: number } | null
}

/** By a model's name alone, by a body, or by a request that was recorded. */
export async function readQuestion(context: AdminContext, input: ExplainInput): Promise<AskedRoute> {
  const { project, environment, key = null, model, lane, body, request } = input
  if (body !== undefined && request !== undefined)
    throw invalid('--body and --request exclude each other.', 'Give one of them.')
  if (request !== undefined) return await readPast(context, input, request)
  const scope = { project, environment, key, past: null }
  if (body !== undefined) return { questions: await readBody(context, input, body), ...scope }
  if (model === undefined)
    throw invalid('Nothing says which request is meant.', 'Name a model, a --body or a --request.')
  return { questions: [{ ...sizeless(model, lane), user: input.user ?? null }], ...scope }
}

/** Of a request nothing is known but its model. */
export function sizeless(model: string, lane: LaneName | undefined): RouteQuestion {
  const lanes = lane === undefined ? [] : [lane]
  const size = { streamed: false, bytes: 0, input: 0, outputLimit: null, answers: 1 }
  const usual = { usesTokens: true, limitedBy: 'max_tokens', counts: null }
  return { model, lanes, operation: null, ...size, ...usual, user: null, conversation: null }
}

async function readBody(
  { runtime }: AdminContext,
  { model, lane, user }: ExplainInput,
  files: Record<string, string>,
): Promise<RouteQuestion[]> {
  const [text, ...more] = Object.values(files)
  if (text === undefined || more.length > 0) throw invalid('A request has one body.', 'Give one file.')
  const found = await runtime.inspect(text, lane ?? null, model ?? null)
  const good = found.flatMap((each) => ('fault' in each ? [] : readInspected(each, model, user)))
  const [first] = found
  if (good.length > 0) return good
  if (first === undefined) throw invalid('No lane takes a body of this form.', 'Say which is meant: --lane.')
  if ('fault' in first)
    throw invalid(`The gateway would reject the body: ${first.fault.message}`, 'Correct the body, or name its --lane.')
  throw invalid('The body names no model.', 'Name it as a client does: in the body, or on the Gemini lane as MODEL.')
}

function readInspected(
  { lane, ...inspected }: Exclude<Inspected, { fault: unknown }>,
  asked?: string,
  user?: string,
): RouteQuestion[] {
  const model = asked ?? inspected.model
  return model === null ? [] : [{ ...inspected, model, lanes: [lane], user: user ?? inspected.user }]
}

/** A form's file is no prompt. */
const isUpload = (operation: string | null): boolean =>
  /^(audio\.trans|images\.(edits|variations)|videos|voice)/.test(operation ?? '')

async function readPast({ store, runtime }: AdminContext, input: ExplainInput, id: string): Promise<AskedRoute> {
  const record = await store.records.get(id)
  if (record === null) throw notFound('request', id, 'List requests: spgw requests list')
  const model = input.model ?? record.model
  if (model === null) throw invalid('The request named no model, so no route decided.', 'Name one.')
  const lane = input.lane ?? record.lane
  const operation = lane === record.lane ? record.operation : null
  const facts = lane === null || operation === null ? null : await runtime.describeCall(lane, operation)
  const question = {
    ...sizeless(model, lane ?? undefined),
    ...facts,
    operation,
    user: input.user ?? null,
    streamed: record.streamed,
    bytes: record.request_bytes,
    input: isUpload(record.operation) ? 0 : Math.ceil(record.request_bytes / bytesPerToken),
  }
  return {
    questions: [question],
    project: record.project ?? input.project,
    environment: record.environment ?? input.environment,
    key: input.key ?? record.key?.id ?? null,
    past: {
      id: record.id,
      provider: record.provider,
      upstream_model: record.upstream_model,
      bytes: record.request_bytes,
    },
  }
}
