import { type Fault, fault } from '../../core/errors.ts'
import type { LaneName } from '../../core/lane.ts'
import type { BatchAsk, BatchInput } from '../../core/objects/batch-input.ts'
import type { ObjectName } from '../../core/objects/stored-object.ts'
import { quote } from '../../core/text/quote.ts'
import type { Reference } from '../../lanes/contract.ts'
import { checkCall } from '../../policy/admit.ts'
import type { Call } from '../request/call.ts'
import { planModel } from '../upstream/plan-call.ts'
import { describeObject, findOwner, indexFault, type Ownership, scopeOf } from './find-owner.ts'

type Owned = Extract<Ownership, { kind: 'owned' }>

/**
 * Checks the models and objects named in a batch's input files as if the caller sent each line by itself: models by policy and route,
 * objects by owner, and all in one account. The lines were read when the file was uploaded, before it was known who would use it.
 */
export async function checkInputs(
  call: Call,
  names: readonly ObjectName[],
  files: readonly Reference[],
  owned: Owned,
): Promise<Ownership> {
  const referred: ObjectName[] = []
  for (const file of files) {
    const known = await call.gateway.objects.input(file.id, owned.pin, scopeOf(call.key))
    if ('failed' in known) return refused(indexFault(call, known.failed))
    const { input, adopted } = known
    if (file.input === 'items') {
      const denied = addItems(call, file, input)
      if (denied !== null) return refused(denied)
      continue
    }
    call.batchInputs = input?.asks === undefined ? null : [...(call.batchInputs ?? []), ...input.asks]
    const wrong = input === null ? checkUnknown(call, file, adopted) : checkLines(call, file, input)
    if (wrong !== null) return refused(wrong)
    referred.push(...(input?.objects ?? []))
  }
  return referred.length === 0 ? owned : await findOwner(call, [...names, ...referred])
}

function refused(reason: Fault): Ownership {
  return { kind: 'refused', fault: reason }
}

/**
 * Adds what the run of an eval asks in addition to its body: one request for each item of a file, and those of the eval's graders for each
 * item.
 */
function addItems(call: Call, { type, id }: Reference, input: BatchInput | null): Fault | null {
  const what = describeObject({ type, id })
  if (input?.asks === undefined) {
    note(
      call,
      type === 'file'
        ? `How many items the ${what} has ${countsAsOne}`
        : `What the graders of the ${what} ${heldForNothing}`,
    )
    return null
  }
  const { gateway, lane, policy, pin } = call
  const asks: BatchAsk[] = []
  for (const ask of input.asks) {
    const { model } = ask
    if (model === null) {
      asks.push(ask)
      continue
    }
    const { bodyLimit } = gateway.settings
    const verdict = checkCall({ lane: lane.name, model, bytes: 0, bodyLimit }, policy)
    if (verdict.fault !== null) {
      call.trace.policySignals.push(...verdict.signals)
      return verdict.fault
    }
    asks.push({ ...ask, model: planModel(call, model, pin).candidates[0]?.upstreamModel ?? model })
  }
  call.batchInputs = [...(call.batchInputs ?? []), ...asks]
  return null
}

const countsAsOne = 'is not known here: budgets count it as one.'
const heldForNothing =
  'will use is not known here: budgets hold nothing for it, and count it once a call shows that the run has ended.'

/** How to upload a file so that a batch can use it, for the error message of each lane. */
const readable: Partial<Record<LaneName, string>> = {
  openai: ', in one call: a form to /v1/files with the purpose `batch` and this one file, not in parts (/v1/uploads)',
  gemini:
    ': as one resumable upload whose parts follow one another (and all come to one node, where nodes of a cluster do not share records), or raw (`x-goog-upload-protocol`), not as multipart/related',
}

/** By adopting a file, an operator vouches for the objects it refers to, but not for which models each key may use. */
function checkUnknown(call: Call, file: ObjectName, adopted: boolean): Fault | null {
  if (!adopted)
    return fault(
      'invalid_request',
      `No batch can be made of the ${describeObject(file)}: the gateway could not read its lines when it was uploaded. Upload it again, uncompressed${readable[call.lane.name] ?? ''}.`,
    )
  const [limiting] = call.policy.modelLimits
  if (limiting !== undefined)
    return fault(
      'policy_denied',
      `The policy ${limiting} limits models, and which ones the ${describeObject(file)} names is not known here. Upload it through the gateway.`,
    )
  note(call, `The lines of the ${describeObject(file)} are not known: it was adopted.`)
  return null
}

function checkLines(call: Call, file: ObjectName, input: BatchInput): Fault | null {
  const { unread, models, lines, objects } = input
  if (unread !== null)
    return fault(
      'invalid_request',
      `No batch can be made of the ${describeObject(file)}: ${unread}. Correct it and upload it again.`,
    )
  for (const model of models) {
    const wrong = checkModel(call, file, model)
    if (wrong !== null) return wrong
  }
  const shown = models.length === 0 ? 'no model' : models.slice(0, 10).map(quote).join(', ')
  note(call, `The ${lines} lines of the ${describeObject(file)} name ${shown} and ${objects.length} objects.`)
  return null
}

function checkModel(call: Call, file: ObjectName, model: string): Fault | null {
  const named = call.inspection.model
  if (named !== null && named !== model)
    return fault(
      'invalid_request',
      `The ${describeObject(file)} names the model ${quote(model)}, and the batch is for ${quote(named)}.`,
    )
  const policy = call.policy
  const { bodyLimit } = call.gateway.settings
  const verdict = checkCall({ lane: call.lane.name, model, bytes: 0, bodyLimit }, policy)
  if (verdict.fault !== null) {
    call.trace.policySignals.push(...verdict.signals)
    return verdict.fault
  }
  const planned = planModel(call, model, call.pin)
  if (planned.fault !== null) return planned.fault
  const upstream = planned.candidates[0]?.upstreamModel ?? model
  if (upstream === model) return null
  const message = `The ${describeObject(file)} names the model ${quote(model)}, which the provider knows as ${quote(upstream)}. The lines of a file go up as they are: write the provider's name in them.`
  return fault('invalid_request', message)
}

function note(call: Call, text: string): void {
  call.trace.note('batch', text)
}
