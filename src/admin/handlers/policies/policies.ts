import { newId } from '../../../core/ids.ts'
import { type ContentRule, type ContentSide, denyRules } from '../../../core/policies/content-rules.ts'
import type { BudgetGrant } from '../../../core/policies/policy-limits.ts'
import {
  changeRules,
  type PolicyRules,
  policyRules,
  showRules,
  type WrittenRules,
} from '../../../core/policies/policy-rules.ts'
import { tryRules } from '../../../policy/content/try-rules.ts'
import type { Policy } from '../../../store/api.ts'
import { audited } from '../audited.ts'
import { operations } from '../base.ts'
import { confirmReach } from '../confirm-reach.ts'
import type { AdminContext } from '../context.ts'
import { conflict, invalid } from '../fault.ts'
import { findPolicy } from '../find.ts'
import { readMoment } from '../moments.ts'
import { type Attachments, loadAttachments, readAttachments, showAttachments, showHolders } from './attachments.ts'
import { showPolicyUsage } from './limit-usage.ts'
import { checkPatterns, readRuleValue } from './read-rules.ts'

const show = (policy: Policy, attachments: Attachments) => ({
  id: policy.id,
  name: policy.name,
  attached_to: showAttachments(policy.attachedTo, attachments),
  held_by: showHolders(policy.id, attachments),
  ...showRules(policyRules, policy),
  grants: currentGrants(policy),
  owned: attachments.owned(policy.id),
  created_at: policy.createdAt,
})
/** What has ended says nothing any more. */
function currentGrants({ grants = [] }: Pick<Policy, 'grants'>): BudgetGrant[] {
  return grants.filter(({ until }) => Date.parse(until) > Date.now())
}

const resource = ({ id, name }: Policy) => ({ kind: 'policy', id, name })

type PolicySettings = Partial<PolicyRules> & Pick<Policy, 'attachedTo' | 'grants'>
const unset: PolicySettings = { attachedTo: { workspace: false, ids: [] } }

interface WrittenSettings extends WrittenRules<typeof policyRules> {
  attach?: string[] | undefined
  clear?: readonly string[] | undefined
}

async function changeSettings(
  context: AdminContext,
  input: WrittenSettings,
  before: PolicySettings,
): Promise<PolicySettings> {
  const { attach, clear = [] } = input
  const attachedTo = clear.includes('attach') ? unset.attachedTo : before.attachedTo
  const rules = changeRules(policyRules, before, input, clear, readRuleValue)
  await checkPatterns(rules)
  return {
    ...rules,
    grants: clear.includes('grants') ? [] : currentGrants(before),
    attachedTo: attach === undefined ? attachedTo : await readAttachments(context, attach),
  }
}

async function load(context: AdminContext, name: string) {
  const policy = await findPolicy(context, name)
  return { policy, before: show(policy, await loadAttachments(context)) }
}

export const policies = {
  add: operations.policies.add.handler(async ({ context, input }) => {
    if ((await context.store.policies.find(input.name)) !== null)
      throw conflict(
        `The policy ${input.name} already exists.`,
        `Choose another name, or: spgw policies edit ${input.name}`,
      )
    const settings = await changeSettings(context, input, unset)
    const policy = { id: newId('pol'), name: input.name, ...settings, createdAt: new Date().toISOString() }
    const after = show(policy, await loadAttachments(context))
    const line = { operation: 'policies.add', resource: resource(policy), before: null, after }
    await audited(context, line).policies.insert(policy)
    await context.runtime.publish()
    // One that applies nowhere yet limits nobody.
    return { ...after, nodes: after.attached_to.length === 0 ? null : await confirmReach(context) }
  }),
  list: operations.policies.list.handler(async ({ context }) => {
    const attachments = await loadAttachments(context)
    return (await context.store.policies.list()).map((policy) => show(policy, attachments))
  }),
  try: operations.policies.try.handler(({ context, input }) => tryContentRules(context, input)),
  show: operations.policies.show.handler(async ({ context, input }) => (await load(context, input.name)).before),
  edit: operations.policies.edit.handler(async ({ context, input }) => {
    const { policy, before } = await load(context, input.name)
    const change = { name: input.rename ?? policy.name, ...(await changeSettings(context, input, policy)) }
    const after = show({ ...policy, ...change }, await loadAttachments(context))
    const line = { operation: 'policies.edit', resource: resource(policy), before, after }
    await audited(context, line).policies.update(policy.id, change)
    await context.runtime.publish()
    return { ...after, nodes: await confirmReach(context) }
  }),
  grant: operations.policies.grant.handler(async ({ context, input }) => {
    const { policy, before } = await load(context, input.name)
    if ((policy.budgetUsdDay ?? null) === null && (policy.budgetUsdMonth ?? null) === null)
      throw invalid(
        `The policy ${policy.name} has no budget in USD to raise.`,
        `Set one: spgw policies edit ${policy.name} --budget-usd-month USD`,
      )
    const grant = { usd: input.usd, until: readUntil(input.until) }
    const change = { grants: [...currentGrants(policy), grant] }
    const after = show({ ...policy, ...change }, await loadAttachments(context))
    const line = { operation: 'policies.grant', resource: resource(policy), before, after }
    await audited(context, line).policies.update(policy.id, change)
    await context.runtime.publish()
    return after
  }),
  usage: operations.policies.usage.handler(({ context, input }) => showPolicyUsage(context, input)),
  remove: operations.policies.remove.handler(async ({ context, input }) => {
    const { policy, before } = await load(context, input.name)
    const line = { operation: 'policies.remove', resource: resource(policy), before, after: null }
    await audited(context, line).policies.remove(policy.id)
    await context.runtime.publish()
    return { id: policy.id, name: policy.name, removed: true as const, nodes: await confirmReach(context) }
  }),
}

function readUntil(text: string): string {
  const until = readMoment(text, 'ahead')
  if (Date.parse(until) > Date.now()) return until
  throw invalid('It would end at once.', 'Give a duration such as 7d or a time in the future.')
}

interface TriedRules {
  name?: string | undefined
  text?: string | undefined
  file?: Record<string, string> | undefined
  contentRules?: Record<string, string> | undefined
  on: ContentSide
}

/** Rules of a policy, or those given in their place, on a text. Nothing is sent, and the text is kept nowhere. */
async function tryContentRules(context: AdminContext, { name, text, file, contentRules, on }: TriedRules) {
  const given = text ?? Object.values(file ?? {}).join('\n')
  if (text !== undefined && file !== undefined)
    throw invalid('--text and --file exclude each other.', 'Give one of them.')
  if (given === '') throw invalid('There is no text to try.', 'Give it with --text or --file.')
  if (name === undefined && contentRules === undefined)
    throw invalid('There are no rules to try.', 'Name a policy, or give rules with --content-rule.')
  const policy = name === undefined ? null : await findPolicy(context, name)
  const unsaved =
    contentRules === undefined
      ? undefined
      : (readRuleValue(policyRules.contentRules.form, contentRules) as ContentRule[])
  const rules = [...denyRules(policy?.denyPatterns ?? []), ...(unsaved ?? policy?.contentRules ?? [])]
  await checkPatterns({ contentRules: rules })
  const tried = await tryRules([{ policy: policy?.name ?? '', rules }], on, given)
  return { policy: policy?.name ?? null, on, given, ...tried }
}
