import { type Fault, fault } from '../../core/errors.ts'
import { slicedBytes } from '../../core/json/known-spans.ts'
import { scanInSlices } from '../../core/json/sliced-json.ts'
import type { ObjectName, ObjectPlace } from '../../core/objects/stored-object.ts'
import { flatText } from '../../core/text/flat-text.ts'
import { quote } from '../../core/text/quote.ts'
import { loadOnce } from '../../core/threads/load-once.ts'
import { nowDoing } from '../../core/threads/turn-watch.ts'
import type { EndpointSocket, FrameAsk, NamedModel } from '../../lanes/contract.ts'
import { checkCall } from '../../policy/admit.ts'
import type { ContentPolicy } from '../../policy/content/compile.ts'
import type { Frame } from '../../providers/socket-peer.ts'
import { findOwner, isAt } from '../objects/find-owner.ts'
import type { Call } from '../request/call.ts'
import { checkNameLength } from '../request/receive.ts'
import { takeTurn } from '../request/take-limits.ts'
import { credentialIdOf } from '../upstream/leg.ts'
import { planModel, withoutUnpriced } from '../upstream/plan-call.ts'
import type { Bridge } from './bridge.ts'
import type { FramesDown } from './frames-down.ts'
import { type OpenedProvider, openProvider } from './open-provider.ts'

const none: readonly ObjectName[] = []
const socketContent = loadOnce(() => import('../content/socket-content.ts'))

/** A change to a frame: the provider's name for a model. */
interface Rename {
  model: NamedModel
  to: string
}

/**
 * Frames from the client. Most are only scanned. One that names a model or an object is checked like a request: may the key use it, does
 * the caller own it, does this connection lead to it?
 */
export class FramesUp {
  readonly #call: Call
  readonly #socket: EndpointSocket
  readonly #down: FramesDown
  #provider: OpenedProvider | null = null

  constructor(call: Call, socket: EndpointSocket, down: FramesDown) {
    this.#call = call
    this.#socket = socket
    this.#down = down
  }

  connected(provider: OpenedProvider): void {
    this.#provider = provider
    this.#down.connected(provider)
  }

  read(frame: Frame, bridge: Bridge): Frame | null | Promise<Frame | null> {
    if (frame.bytes.length < slicedBytes) return this.#read(frame, bridge)
    return scanInSlices(frame.bytes).then(() => this.#read(frame, bridge))
  }

  #read(frame: Frame, bridge: Bridge): Frame | null | Promise<Frame | null> {
    nowDoing('message of the client on', this.#call.id)
    const ask = this.#socket.ask(frame.bytes)
    if (ask !== null && 'code' in ask) return this.#reject(ask, bridge)
    const long = ask === null ? null : checkNameLength(ask.model?.name ?? null, ask.additionalModels)
    if (long !== null) return this.#reject(long, bridge)
    const policies = this.#contentPolicies()
    return policies === null ? this.#admit(ask, frame, bridge) : this.#inspect(policies, ask, frame, bridge)
  }

  /** The content policies as they are now; null: none apply to this connection, and none have. */
  #contentPolicies(): readonly ContentPolicy[] | null {
    if (this.#socket.isHttpInFrames !== true) return null
    return this.#call.policy.content ?? (this.#down.content === null ? null : [])
  }

  /** A refused prompt does not end the connection, even before a provider has been asked. */
  async #inspect(
    policies: readonly ContentPolicy[],
    ask: FrameAsk | null,
    frame: Frame,
    bridge: Bridge,
  ): Promise<Frame | null> {
    const { SocketContent } = await socketContent()
    this.#down.content ??= new SocketContent(this.#call)
    const { content } = this.#down
    const models = [ask?.model, ...(ask?.additionalModels ?? [])].flatMap((model) => model?.spans ?? [])
    const bytes = await content.inspect(policies, frame.bytes, models)
    if (bridge.isOver) return null
    if (!Buffer.isBuffer(bytes)) {
      const limited = ask?.asksResponse === true ? this.#countRefused() : null
      bridge.reject(limited ?? bytes, content.streamOf(frame.bytes))
      return null
    }
    if (bytes === frame.bytes) return await this.#admit(ask, frame, bridge)
    if (bytes.length >= slicedBytes) await scanInSlices(bytes)
    const again = this.#socket.ask(bytes)
    if (again !== null && 'code' in again) return this.#reject(again, bridge)
    return await this.#admit(again, { ...frame, bytes }, bridge)
  }

  /** It counts as a request, although no provider gets it. */
  #countRefused(): Fault | null {
    const { gateway, limits, trace } = this.#call.arrival
    return takeTurn({ gateway, limits, trace, accounts: null }, 0)
  }

  #admit(ask: FrameAsk | null, frame: Frame, bridge: Bridge): Frame | null | Promise<Frame | null> {
    const provider = this.#provider
    if (provider === null) return this.#open(ask, frame, bridge)
    this.#down.turns.hear(frame.bytes)
    if (ask === null) return frame
    const unknown = this.#unknown(ask, frame)
    if ('code' in unknown) return this.#reject(unknown, bridge)
    if (unknown.length > 0) return this.#checkOwner(ask, frame, unknown, provider, bridge)
    return this.#renamed(ask, frame, provider, bridge)
  }

  /** The first frame of a connection whose provider is not known yet. */
  async #open(ask: FrameAsk | null, frame: Frame, bridge: Bridge): Promise<Frame | null> {
    const model = ask?.model?.name ?? this.#call.inspection.model
    if (ask === null || !ask.opens || model === null)
      return this.#reject(
        fault('invalid_request', 'The first frame must set the session up and name its model.'),
        bridge,
      )
    const denied = this.#validate(model)
    if (denied !== null) return this.#reject(denied, bridge)
    this.#call.learn({ model })
    const unknown = this.#unknown(ask, frame)
    if ('code' in unknown) return this.#reject(unknown, bridge)
    if (unknown.length > 0) {
      const owner = await findOwner(this.#call, unknown)
      if (owner.kind === 'refused') return this.#reject(owner.fault, bridge)
      if (owner.kind === 'missing') return this.#missing(owner.name, owner.why, bridge)
      this.#call.pin = owner.pin
    }
    const provider = await bridge.open(() => openProvider(this.#call))
    if (provider === null) return null
    this.connected(provider)
    return this.#renamed(ask, frame, provider, bridge)
  }

  async #checkOwner(
    ask: FrameAsk,
    frame: Frame,
    names: readonly ObjectName[],
    provider: OpenedProvider,
    bridge: Bridge,
  ): Promise<Frame | null> {
    const owner = await findOwner(this.#call, names)
    if (owner.kind === 'refused') return this.#reject(owner.fault, bridge)
    if (owner.kind === 'missing') return this.#missing(owner.name, owner.why, bridge)
    if (!isAt(placeOf(provider), owner.pin)) {
      const message = `The ${owner.pin.what} lives in another account than the one that this connection is with. Open another connection for it.`
      return this.#reject(fault('invalid_request', message), bridge)
    }
    return this.#renamed(ask, frame, provider, bridge)
  }

  /** The client gets the lane's own words, as for a request; operators see why. */
  #missing(name: ObjectName, why: string, bridge: Bridge): null {
    this.#call.trace.routingSignals.push({ rule: 'object', verdict: 'deny', text: why })
    const message = `There is no ${name.type.replaceAll('_', ' ')} ${quote(name.id)} for this key.`
    return this.#reject(fault('object_not_found', message), bridge)
  }

  /** Tells the client. A connection without a provider ends with it. */
  #reject(reason: Fault, bridge: Bridge): null {
    if (this.#provider === null) bridge.end(reason)
    else bridge.reject(reason)
    return null
  }

  /** The objects that the frame names and this connection has not created. */
  #unknown({ bodyOf, own }: FrameAsk, frame: Frame): readonly ObjectName[] | Fault {
    if (bodyOf === null) return none
    const found = bodyOf.endpoint.references('', frame.bytes)
    if ('code' in found) return found
    return found.filter((name) => !own.includes(name.type) && !this.#down.knows(name))
  }

  #validate(model: string | null, leavesChoice?: true): Fault | null {
    const { lane, policy, gateway, trace } = this.#call
    const { bodyLimit } = gateway.settings
    const verdict = checkCall({ lane: lane.name, model, leavesChoice, bytes: 0, bodyLimit }, policy)
    if (verdict.fault !== null) trace.policySignals.push(...verdict.signals)
    return verdict.fault
  }

  /** The frame with the provider's names for the models. */
  #renamed(ask: FrameAsk, frame: Frame, provider: OpenedProvider, bridge: Bridge): Frame | null {
    const { model, additionalModels } = ask
    const renames: Rename[] = []
    const answering: string[] = []
    const denied =
      ask.leavesChoice === true ? this.#validate(model?.name ?? this.#call.inspection.model, ask.leavesChoice) : null
    if (denied !== null) return this.#reject(denied, bridge)
    for (const named of model === null ? additionalModels : [model, ...additionalModels]) {
      const to = this.#nameAt(named.name, named === model, provider)
      if (typeof to !== 'string') return this.#reject(to, bridge)
      if (to !== named.name) renames.push({ model: named, to })
      this.#learnModel(named.name, to)
      if (named === model || named.mayAnswer === true) answering.push(to)
    }
    if (ask.asksResponse) {
      const refused = this.#down.turns.ask(provider, frame.bytes, answering)
      if (refused !== null) return this.#reject(refused, bridge)
    }
    return renames.length === 0 ? frame : { ...frame, bytes: this.#patch(frame.bytes, renames) }
  }

  /** A connection that was opened without a model is for the first model that a frame names. */
  #learnModel(name: string, to: string): void {
    if (this.#call.inspection.model !== null) return
    this.#call.learn({ model: name })
    const { trace } = this.#call
    trace.upstreamModel = to
    if (trace.priced !== null) trace.priced = { ...trace.priced, model: to }
  }

  /** The name of a model at this connection's provider. A fault: the caller may not use the model, or it is not available here. */
  #nameAt(name: string, main: boolean, provider: OpenedProvider): string | Fault {
    const { inspection, trace } = this.#call
    if (main && name === inspection.model) return trace.upstreamModel ?? name
    const denied = this.#validate(name)
    if (denied !== null) return denied
    const found = planModel(this.#call, name, { what: 'connection', ...placeOf(provider) })
    const planned = withoutUnpriced(this.#call, found, [name])
    if (planned.fault?.code === 'policy_denied') return planned.fault
    if (planned.route !== null) return planned.candidates[0]?.upstreamModel ?? name
    // For a part of the work a provider's own name is accepted: it involves no choice of provider.
    if (!main) return name
    const message = `This connection is with a provider that has no route for the model ${quote(name)}. Open another connection for it.`
    return fault('model_not_found', message, { param: 'model' })
  }

  #patch(bytes: Buffer, renames: readonly Rename[]): Buffer {
    const { lane, inspection, trace } = this.#call
    let patched = bytes
    // From the end, so that earlier positions stay valid.
    for (const { model, to } of renames.toSorted((one, other) => startOf(other) - startOf(one))) {
      patched = lane.patchBody(
        patched,
        { ...inspection, modelSpans: model.spans },
        { renameTo: to, askForUsage: false },
      )
      trace.noteOnce('patch', flatText("The model's name was changed to ", to, ' for ', trace.provider ?? '', '.'))
    }
    return patched
  }
}

function placeOf(provider: OpenedProvider): ObjectPlace {
  return { providerId: provider.provider.row.id, credentialId: credentialIdOf(provider) }
}

function startOf({ model }: Rename): number {
  return model.spans[0]?.start ?? 0
}
