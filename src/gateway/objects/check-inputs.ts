import { type Fault, fault } from '../../core/errors.ts'
import type { LaneName } from '../../core/lane.ts'
import { quote } from '../../core/quote.ts'
import type { BatchInput, ObjectName } from '../../core/stored-object.ts'
import { effectivePolicy, judgeCall } from '../../policy/admit.ts'
import type { Exchange } from '../exchange.ts'
import type { Gateway } from '../gateway.ts'
import { planModel } from '../plan-call.ts'
import { describeObject, findOwner, indexFault, type Ownership, scopeOf } from './find-owner.ts'

type Owned = Extract<Ownership, { kind: 'owned' }>

/**
 * Whether what the lines of a batch's input files name is the caller's to use, as if he sent each by itself: models by policy and route,
 * objects by owner, and all in one account. They were seen when the file came; by then nobody knew for whom.
 */
export async function checkInputs(
  gateway: Gateway,
  exchange: Exchange,
  names: readonly ObjectName[],
  files: readonly ObjectName[],
  owned: Owned,
): Promise<Ownership> {
  const referred: ObjectName[] = []
  for (const file of files) {
    const known = await gateway.objects.input(file.id, owned.pin, scopeOf(exchange))
    if ('failed' in known) return refused(indexFault(exchange, known.failed))
    const { input, adopted } = known
    const wrong =
      input === null ? judgeUnknown(gateway, exchange, file, adopted) : judgeLines(gateway, exchange, file, input)
    if (wrong !== null) return refused(wrong)
    referred.push(...(input?.objects ?? []))
  }
  return referred.length === 0 ? owned : await findOwner(gateway, exchange, [...names, ...referred])
}

function refused(reason: Fault): Ownership {
  return { kind: 'refused', fault: reason }
}

/** How to upload what a batch shall be made of, in the words of the lane's documentation. */
const readable: Partial<Record<LaneName, string>> = {
  openai: ', in one call: a form to /v1/files with the purpose `batch` and this one file, not in parts (/v1/uploads)',
  gemini:
    ': as one resumable upload whose parts follow one another, or raw (`x-goog-upload-protocol`), not as multipart/related',
}

/** Adopting is an operator's word for what the file refers to, and not for which models each key may use. */
function judgeUnknown(gateway: Gateway, exchange: Exchange, file: ObjectName, adopted: boolean): Fault | null {
  if (!adopted)
    return fault(
      'invalid_request',
      `No batch can be made of the ${describeObject(file)}: its lines did not pass here in a way that they could be read. Upload it once more, uncompressed${readable[exchange.lane!.name] ?? ''}.`,
    )
  const { modelLimits } = effectivePolicy(gateway.model.configuration.policies, exchange.key!)
  const [limiting] = modelLimits
  if (limiting !== undefined)
    return fault(
      'policy_denied',
      `The policy ${limiting} limits models, and which ones the ${describeObject(file)} names is not known here. Upload it through the gateway.`,
    )
  note(exchange, `The lines of the ${describeObject(file)} are not known: it was adopted.`)
  return null
}

function judgeLines(gateway: Gateway, exchange: Exchange, file: ObjectName, input: BatchInput): Fault | null {
  const { unread, models, lines, objects } = input
  if (unread !== null)
    return fault(
      'invalid_request',
      `No batch can be made of the ${describeObject(file)}: ${unread}. Correct it and upload it again.`,
    )
  for (const model of models) {
    const wrong = judgeModel(gateway, exchange, file, model)
    if (wrong !== null) return wrong
  }
  const shown = models.length === 0 ? 'no model' : models.slice(0, 10).map(quote).join(', ')
  note(exchange, `The ${lines} lines of the ${describeObject(file)} name ${shown} and ${objects.length} objects.`)
  return null
}

function judgeModel(gateway: Gateway, exchange: Exchange, file: ObjectName, model: string): Fault | null {
  const named = exchange.inspection!.model
  if (named !== null && named !== model)
    return fault(
      'invalid_request',
      `The ${describeObject(file)} names the model ${quote(model)}, and the batch is for ${quote(named)}.`,
    )
  const policy = effectivePolicy(gateway.model.configuration.policies, exchange.key!)
  const { bodyLimit } = gateway.settings
  const verdict = judgeCall({ lane: exchange.lane!.name, model, bytes: 0, bodyLimit }, policy)
  if (verdict.fault !== null) {
    exchange.policySignals.push(...verdict.signals)
    return verdict.fault
  }
  const planned = planModel(gateway, exchange, model, exchange.pin)
  if (planned.fault !== null) return planned.fault
  const upstream = planned.candidates[0]?.upstreamModel ?? model
  if (upstream === model) return null
  const message = `The ${describeObject(file)} names the model ${quote(model)}, which the provider knows as ${quote(upstream)}. The lines of a file go up as they are: write the provider's name in them.`
  return fault('invalid_request', message)
}

function note(exchange: Exchange, text: string): void {
  exchange.routingSignals.push({ rule: 'batch', verdict: 'note', text })
}
