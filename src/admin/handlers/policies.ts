import type { CaptureMode } from '../../core/capture.ts'
import { newId } from '../../core/ids.ts'
import type { LaneName } from '../../core/lane.ts'
import { parseSize } from '../../core/units.ts'
import type { Policy } from '../../store/api.ts'
import { type Attachments, loadAttachments, readAttachments, showAttachments, showHolders } from './attachments.ts'
import { audited } from './audited.ts'
import { operations } from './base.ts'
import type { AdminContext } from './context.ts'
import { conflict } from './fault.ts'
import { findPolicy } from './find.ts'

const show = (policy: Policy, attachments: Attachments) => ({
  id: policy.id,
  name: policy.name,
  attached_to: showAttachments(policy.attachedTo, attachments),
  held_by: showHolders(policy.id, attachments),
  allow_models: policy.allowModels,
  deny_models: policy.denyModels,
  lanes: policy.lanes,
  max_body_bytes: policy.maxBody,
  capture: policy.capture,
  owned: attachments.owned(policy.id),
  created_at: policy.createdAt,
})
const resource = ({ id, name }: Policy) => ({ kind: 'policy', id, name })

interface Settable {
  allowModels?: string[] | undefined
  denyModels?: string[] | undefined
  lanes?: LaneName[] | undefined
  maxBody?: string | undefined
  capture?: CaptureMode | undefined
  attach?: string[] | undefined
  clear?: ('allow-models' | 'deny-models' | 'lanes' | 'max-body' | 'capture' | 'attach')[] | undefined
}
type Rules = Pick<Policy, 'allowModels' | 'denyModels' | 'lanes' | 'maxBody' | 'capture' | 'attachedTo'>

const empty: Rules = {
  allowModels: [],
  denyModels: [],
  lanes: [],
  maxBody: null,
  capture: null,
  attachedTo: { workspace: false, ids: [] },
}

/** What is given replaces what was; what is cleared is emptied first. */
async function readRules(context: AdminContext, input: Settable, policy: Rules): Promise<Rules> {
  const cleared = new Set(input.clear)
  const before = {
    allowModels: cleared.has('allow-models') ? empty.allowModels : policy.allowModels,
    denyModels: cleared.has('deny-models') ? empty.denyModels : policy.denyModels,
    lanes: cleared.has('lanes') ? empty.lanes : policy.lanes,
    maxBody: cleared.has('max-body') ? empty.maxBody : policy.maxBody,
    capture: cleared.has('capture') ? empty.capture : policy.capture,
    attachedTo: cleared.has('attach') ? empty.attachedTo : policy.attachedTo,
  }
  return {
    allowModels: input.allowModels ?? before.allowModels,
    denyModels: input.denyModels ?? before.denyModels,
    lanes: input.lanes ?? before.lanes,
    maxBody: input.maxBody === undefined ? before.maxBody : parseSize(input.maxBody),
    capture: input.capture ?? before.capture,
    attachedTo: input.attach === undefined ? before.attachedTo : await readAttachments(context, input.attach),
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
        `The policy ${input.name} exists already.`,
        `Choose another name, or: spgw policies edit ${input.name}`,
      )
    const rules = await readRules(context, input, empty)
    const policy = { id: newId('pol'), name: input.name, ...rules, createdAt: new Date().toISOString() }
    const after = show(policy, await loadAttachments(context))
    const line = { operation: 'policies.add', resource: resource(policy), before: null, after }
    await audited(context, line).policies.insert(policy)
    await context.runtime.publish()
    return after
  }),
  list: operations.policies.list.handler(async ({ context }) => {
    const attachments = await loadAttachments(context)
    return (await context.store.policies.list()).map((policy) => show(policy, attachments))
  }),
  show: operations.policies.show.handler(async ({ context, input }) => (await load(context, input.name)).before),
  edit: operations.policies.edit.handler(async ({ context, input }) => {
    const { policy, before } = await load(context, input.name)
    const change = { name: input.rename ?? policy.name, ...(await readRules(context, input, policy)) }
    const after = show({ ...policy, ...change }, await loadAttachments(context))
    const line = { operation: 'policies.edit', resource: resource(policy), before, after }
    await audited(context, line).policies.update(policy.id, change)
    await context.runtime.publish()
    return after
  }),
  remove: operations.policies.remove.handler(async ({ context, input }) => {
    const { policy, before } = await load(context, input.name)
    const line = { operation: 'policies.remove', resource: resource(policy), before, after: null }
    await audited(context, line).policies.remove(policy.id)
    await context.runtime.publish()
    return { id: policy.id, name: policy.name, removed: true as const }
  }),
}
