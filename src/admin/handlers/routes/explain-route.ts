import { usdOfNano } from '../../../core/cost/money.ts'
import { type Fault, fault } from '../../../core/errors.ts'
import { type FormatName, isFormatName, usualFormat } from '../../../core/format.ts'
import { type LaneName, laneNames } from '../../../core/lane.ts'
import type { Signal } from '../../../core/record.ts'
import {
  checkCall,
  checkSource,
  compilePolicies,
  type EffectivePolicy,
  effectivePolicy,
  findInvalid,
  mayUseModel,
} from '../../../policy/admit.ts'
import { indexKinds } from '../../../providers/index.ts'
import { conversationKeys, stayAt } from '../../../routing/affinity.ts'
import { isVectorCall, offersChoice, type Skipped, skippedSignal } from '../../../routing/candidates.ts'
import { denyUnpriced } from '../../../routing/deny-unpriced.ts'
import { type Candidate, compileRoutes, type Plan, plan } from '../../../routing/plan.ts'
import { isSingleKey } from '../../../routing/single-key.ts'
import type { Figures } from '../../../routing/strategy.ts'
import type { Key } from '../../../store/api.ts'
import type { SnapshotKey } from '../../../store/configuration/snapshot.ts'
import type { AdminContext, PromptVerdict } from '../context.ts'
import { type FoundScope, findKey, findScope } from '../find.ts'
import { loadNames } from '../names.ts'
import { showLimits } from '../policies/limit-usage.ts'
import { type CountedCall, limitOf, priceAt } from './count-request.ts'
import { refusedByAccounts } from './explain-accounts.ts'
import { explainBudgets, explainLimits } from './explain-limits.ts'
import { type AskedRoute, type ExplainInput, type RouteQuestion, readQuestion, sizeless } from './explain-question.ts'
import { type ExplainedTranslation, explainTranslation } from './explain-translation.ts'
import { figuresOf } from './figures.ts'
import { showOptions } from './route-options.ts'

/** The very plan that a request would get, from the snapshot that the data plane has. */
export async function explainRoute(context: AdminContext, input: ExplainInput) {
  const asked = await readQuestion(context, input)
  const named = await findScope(context, asked)
  const key = asked.key === null ? null : await findAskedKey(context, asked, named)
  // A key that is named by its ID may be elsewhere, and its requests are routed there.
  const scope =
    key === null ? named : await findScope(context, { project: key.projectId, environment: key.environmentId })
  const snapshotKey = key === null ? null : findSnapshotKey(context, key)
  const { lane, planned: found, question } = planBest(context, scope, asked.questions, snapshotKey)
  const [text = null] = Object.values(input.body ?? {})
  const policy =
    snapshotKey === null
      ? null
      : effectivePolicy(compilePolicies(context.runtime.snapshot().configuration), snapshotKey)
  const counted = { ...question, text, policy, now: Date.now() }
  const planned = withoutUnpriced(context, found, counted)
  const { route } = planned
  const spent = key === null ? null : refuseSpent(key)
  const verdict = await checkPolicy(context, policy, lane, counted)
  const budgets = explainBudgets(context, policy, planned.candidates[0], counted)
  const written = budgets.room === null ? counted : { ...counted, room: budgets.room }
  const expected = figuresOf(context, { ...question, outputLimit: question.limitedBy === null ? 0 : limitOf(written) })
  const translation = await explainTranslation(context, planned, written)
  const accounts = refusedByAccounts(context, planned, written)
  const unasked = findUnasked(planned, translation, accounts)
  return {
    model: question.model,
    lane,
    request: asked.past,
    project: scope.project.name,
    environment: scope.environment.name,
    key:
      key === null
        ? null
        : { id: key.id, name: key.name, project: scope.project.name, environment: scope.environment.name },
    route:
      route === null
        ? null
        : {
            id: route.id,
            model: route.model,
            project: route.project,
            environment: route.environment,
            strategy: route.strategy,
            ...showOptions(route, await loadNames(context)),
          },
    taken: planned.candidates
      .filter((candidate) => !unasked.has(candidate))
      .map((candidate) => ({
        provider: candidate.provider.name,
        upstream_model: candidate.upstreamModel,
        reason: candidate.reason,
        translated: candidate.translated,
        losses: translation.losses.get(candidate)?.slice() ?? null,
        ...showFigures(expected, candidate),
      })),
    skipped: [...planned.skipped, ...unasked.values()].map(showSkipped),
    policy_signals:
      spent === null
        ? [...verdict.signals, ...(verdict.fault === null && planned.fault === null ? budgets.signals : [])]
        : [spent.signal],
    routing_signals: [...planned.signals, ...[...unasked.values()].map(skippedSignal)],
    ...showLeft(context, policy, question),
    // The key and policies are asked first, so what they refuse is what a client would see; budgets once a target is chosen.
    error: pick(
      spent?.fault ?? verdict.fault ?? planned.fault ?? budgets.fault ?? refusalOf(planned.candidates, unasked),
    ),
    note: planned.fault === null ? null : planned.operatorNote,
  }
}

function showSkipped({ provider, upstreamModel, reason }: Pick<Skipped, 'provider' | 'upstreamModel' | 'reason'>) {
  const unknown = { translated: null, losses: null, estimate_usd: null, latency_ms: null }
  return { provider, upstream_model: upstreamModel, reason, ...unknown }
}

/** Where a policy of the key denies models without a price. */
function withoutUnpriced(
  context: AdminContext,
  planned: Plan,
  { policy, model, additionalModels = [], ...asked }: CountedCall & RouteQuestion,
) {
  const { unpriced = null } = policy ?? {}
  if (unpriced?.denies !== true) return planned
  const isPriced = (candidate: Candidate) =>
    !asked.usesTokens ||
    [candidate.upstreamModel, ...(candidate.additionalUpstreamModels ?? [])].every((upstreamModel) => {
      const { price, isFree } = priceAt(context, { ...candidate, upstreamModel }, { text: asked.text, policy: null })
      return isFree || price !== null
    })
  const models = [model, ...additionalModels.map(({ name }) => name)]
  return denyUnpriced(planned, { models, policy: unpriced.policy, isPriced })
}

/** What is left of each limit and budget of the key at this moment. */
function showLeft({ runtime }: AdminContext, policy: EffectivePolicy | null, { user }: Pick<RouteQuestion, 'user'>) {
  const { limits, periods } = showLimits(runtime, policy?.limits ?? [], user)
  const without = (limit: number, used: number | null) => (used === null ? null : Math.max(0, limit - used))
  return {
    limits: limits.map((each) => ({ ...each, left: without(each.limit, each.used) })),
    periods: periods.map((each) => ({
      ...each,
      left: without(each.limit, each.used === null ? null : each.used + (each.held ?? 0)),
    })),
  }
}

type Unasked = Pick<Skipped, 'provider' | 'upstreamModel' | 'reason' | 'code'> & {
  fault: Pick<Fault, 'code' | 'message'>
}

/** Those of a plan that cannot be asked when their turn comes. */
function findUnasked(
  { candidates }: Plan,
  { refused }: ExplainedTranslation,
  accounts: ReadonlyMap<Candidate, Fault>,
): ReadonlyMap<Candidate, Unasked> {
  const found = new Map<Candidate, Unasked>()
  for (const candidate of candidates) {
    const untold = refused.get(candidate)
    const crowded = accounts.get(candidate)
    const target = { provider: candidate.provider.name, upstreamModel: candidate.upstreamModel }
    if (untold !== undefined) {
      const fault = { code: 'not_translatable', message: untold } as const
      found.set(candidate, { ...target, reason: untold, code: 'format', fault })
    } else if (crowded !== undefined)
      found.set(candidate, { ...target, reason: crowded.message, code: 'account', fault: crowded })
  }
  return found
}

/** With no target left that can be asked, the client is told why the first cannot. */
function refusalOf(candidates: readonly Candidate[], unasked: ReadonlyMap<Candidate, Unasked>) {
  const [first] = candidates
  return first === undefined || unasked.size < candidates.length ? null : (unasked.get(first)?.fault ?? null)
}

const pick = (fault: { code: string; message: string } | null) =>
  fault === null ? null : { code: fault.code, message: fault.message }

/** What a call is estimated to cost there, and how long such calls take. */
function showFigures(figures: Figures, { provider, upstreamModel, watched }: Candidate) {
  const nano = figures.costOf(provider, upstreamModel)
  return {
    estimate_usd: nano === null ? null : usdOfNano(nano),
    latency_ms: figures.latencyOf(watched)?.ms ?? null,
  }
}

/** A past request's key may be gone: its policies are not known then. */
async function findAskedKey(context: AdminContext, { key, past }: AskedRoute, scope: FoundScope): Promise<Key | null> {
  const found = findKey(context, key ?? '', scope)
  return past === null ? await found : await found.catch(() => null)
}

interface ExplainedPlan {
  lane: LaneName
  planned: Plan
  question: RouteQuestion
}

/** Of the ways in which a request may be meant, the first that would be sent. */
function planBest(
  context: AdminContext,
  scope: FoundScope,
  questions: readonly RouteQuestion[],
  key: SnapshotKey | null,
): ExplainedPlan {
  const all = questions.map((question) => planQuestion(context, scope, question, key))
  const best = all.find(({ planned }) => planned.fault === null) ?? all[0]
  if (best === undefined) throw new Error('a route was asked to be explained for no request')
  return best
}

/** The plan of one small request for the model. */
export function planFor(
  context: AdminContext,
  scope: FoundScope,
  { model, lane }: { model: string; lane?: LaneName | undefined },
  key: SnapshotKey | null = null,
): { lane: LaneName; planned: Plan } {
  return planQuestion(context, scope, sizeless(model, lane), key)
}

/** Without a lane asked for, the first that a target takes as it is; targets of other formats are asked in translation. */
export function planQuestion(
  context: AdminContext,
  { project, environment }: { project: { id: string }; environment: { id: string } },
  question: RouteQuestion,
  key: SnapshotKey | null,
  { now, random } = { now: Date.now(), random: Math.random },
): ExplainedPlan {
  const { configuration, keys } = context.runtime.snapshot()
  const compiled = compileRoutes(configuration)
  const effective = key === null ? null : effectivePolicy(compilePolicies(configuration), key)
  const figures = figuresOf(context, question)
  const caller = key === null || isSingleKey(keys, now) ? null : key.id
  const { model, additionalModels, lanes, operation, counts } = question
  const kinds = indexKinds(context.kinds)
  const ask = (asked: LaneName, format: FormatName | null): Plan => {
    const found = plan(
      {
        lane: asked,
        model,
        additionalModels,
        projectId: project.id,
        environmentId: environment.id,
        onlyDemo: key?.onlyDemo,
        providerName: null,
        operation,
        format: format ?? counts,
        counts: counts !== null,
        embeds: operation !== null && isVectorCall(operation),
        kinds,
        health: (slot, credentials, target) => context.runtime.health(slot, credentials, target, caller),
        now,
        random,
        figures,
        ...(effective === null ? {} : { maySee: (name: string) => mayUseModel(effective, name) }),
      },
      compiled,
    )
    return stayIfKnown(context, project.id, question, found)
  }
  const lane = lanes.length === 1 ? lanes[0] : chooseLane(lanes, (one) => ask(one, formatOf(operation)))
  const asked = lane ?? 'openai'
  return { lane: asked, planned: ask(asked, formatOf(operation) ?? usualFormatOf(operation, asked)), question }
}

/** The first in which the call needs no translation; with no target ready, the one that the first target has. */
function chooseLane(lanes: readonly LaneName[], ask: (lane: LaneName) => Plan): LaneName | undefined {
  const meant = lanes.length === 0 ? laneNames : lanes
  const plans = meant.map((lane) => ({ lane, planned: ask(lane) }))
  const ready = plans.find(({ planned }) => planned.fault === null)
  return ready?.lane ?? plans[0]?.planned.skipped.flatMap((skipped) => skipped.lanes).find((one) => meant.includes(one))
}

/** As the data plane does, where it has the body. */
function stayIfKnown(
  { runtime }: AdminContext,
  projectId: string,
  { conversation }: RouteQuestion,
  planned: Plan,
): Plan {
  if (conversation === null || planned.route === null || !offersChoice(planned.candidates)) return planned
  const found = runtime.recall(conversationKeys(projectId, planned.route, conversation))
  return found === null ? planned : stayAt(planned, found, (target, credential) => runtime.isUsable(target, credential))
}

/** Null: it is not known, or no format that is translated. */
function formatOf(operation: string | null): FormatName | null {
  return operation !== null && isFormatName(operation) ? operation : null
}

/** What most calls of a lane have, where the call is not known. */
function usualFormatOf(operation: string | null, lane: LaneName): FormatName | null {
  return operation === null ? usualFormat(lane) : null
}

/** The current secret's row; null when the data plane does not know the key (revoked long ago). */
function findSnapshotKey({ runtime }: AdminContext, key: Key): SnapshotKey | null {
  return runtime.snapshot().keys.find(({ id }) => id === key.id) ?? null
}

/** A key that is revoked or expired is rejected, whatever its policies say. */
function refuseSpent({ revokedAt, expiresAt }: Key): { fault: Fault; signal: Signal } | null {
  const time = (text: string | null) => (text === null ? null : Date.parse(text))
  const text = findInvalid({ revokedAt: time(revokedAt), expiresAt: time(expiresAt) }, Date.now())
  return text === null ? null : { fault: fault('invalid_key', text), signal: { rule: 'key', verdict: 'deny', text } }
}

async function checkPolicy(
  context: AdminContext,
  policy: EffectivePolicy | null,
  lane: LaneName,
  asked: CountedCall & Pick<RouteQuestion, 'model' | 'leavesChoice' | 'bytes'>,
): Promise<PromptVerdict> {
  if (policy === null) return { fault: null, signals: [] }
  const { timeZone } = context.runtime.snapshot().configuration
  const source = checkSource(policy.source ?? [], { address: undefined, now: Date.now(), timeZone })
  if (source.fault !== null) return source
  const { model, additionalModels, leavesChoice, bytes, outputLimit, limitedBy, text } = asked
  const output = limitedBy === null || text === null ? null : { asked: outputLimit, member: () => limitedBy }
  const facts = { lane, model, additionalModels, leavesChoice, bytes, bodyLimit: Number.MAX_SAFE_INTEGER, output }
  const verdict = checkCall(facts, policy)
  const signals = [...source.signals, ...verdict.signals]
  if (verdict.fault !== null) return { fault: verdict.fault, signals }
  const limits = explainLimits(context, policy, asked)
  signals.push(...limits.signals)
  if (limits.fault !== null || policy.content === null) return { fault: limits.fault, signals }
  if (text === null) return { fault: null, signals: [...signals, ...unread(policy)] }
  const content = await context.runtime.inspectContent(text, lane, model, policy.content)
  return { fault: content.fault, signals: [...signals, ...content.signals] }
}

/** Content rules read a prompt, which is not known. */
function unread({ content }: EffectivePolicy): Signal[] {
  const looking = (content ?? []).filter(({ rules }) => rules.some(({ on }) => on.includes('prompt')))
  return [...new Set(looking.map(({ policy }) => policy))].map((policy) => ({
    rule: 'content',
    verdict: 'note',
    text: `What the content rules of the policy ${policy} would find in the prompt is not known without it: give its --body, or try a text: spgw policies try ${policy}`,
    data: { policy },
  }))
}
