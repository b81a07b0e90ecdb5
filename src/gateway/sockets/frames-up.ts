import { type Fault, fault } from '../../core/errors.ts'
import { flatText } from '../../core/flat-text.ts'
import { quote } from '../../core/quote.ts'
import type { ObjectName } from '../../core/stored-object.ts'
import type { FrameAsk, NamedModel } from '../../lanes/contract.ts'
import { effectivePolicy, judgeCall } from '../../policy/admit.ts'
import type { Frame } from '../../providers/socket-peer.ts'
import type { Exchange } from '../exchange.ts'
import type { Gateway } from '../gateway.ts'
import { findOwner, isAt } from '../objects/find-owner.ts'
import { planModel } from '../plan-call.ts'
import type { Bridge } from './bridge.ts'
import type { FramesDown } from './frames-down.ts'
import { type OpenedProvider, openProvider } from './open-provider.ts'

const none: readonly ObjectName[] = []

/** A change of a frame: a model's name, as the provider knows it. */
interface Rename {
  model: NamedModel
  to: string
}

/**
 * What comes from the client. Nearly all of it is scanned and no more; a frame that names a model or an object is looked at like a
 * request: may the key use it, is it the caller's, does it live where this connection leads?
 */
export class FramesUp {
  readonly #gateway: Gateway
  readonly #exchange: Exchange
  readonly #down: FramesDown
  #provider: OpenedProvider | null = null

  constructor(gateway: Gateway, exchange: Exchange, down: FramesDown) {
    this.#gateway = gateway
    this.#exchange = exchange
    this.#down = down
  }

  standsWith(provider: OpenedProvider): void {
    this.#provider = provider
    this.#down.standsWith(provider)
  }

  look(frame: Frame, bridge: Bridge): Frame | null | Promise<Frame | null> {
    const { match } = this.#exchange
    const ask = match!.endpoint.socket!.ask(frame.bytes)
    if (ask !== null && 'code' in ask) return this.#refuse(ask, bridge)
    if (this.#provider === null) return this.#open(ask, frame, bridge)
    if (ask === null) return frame
    const unknown = this.#unknown(ask, frame)
    if ('code' in unknown) return this.#refuse(unknown, bridge)
    if (unknown.length > 0) return this.#checkOwner(ask, frame, unknown, bridge)
    return this.#renamed(ask, frame, bridge)
  }

  /** The first frame of a connection whose provider nobody knows yet. */
  async #open(ask: FrameAsk | null, frame: Frame, bridge: Bridge): Promise<Frame | null> {
    const { inspection } = this.#exchange
    const model = ask?.model?.name ?? inspection!.model
    if (ask === null || !ask.opens || model === null)
      return this.#refuse(
        fault('invalid_request', 'The first frame must set the session up and name its model.'),
        bridge,
      )
    const denied = this.#judge(model)
    if (denied !== null) return this.#refuse(denied, bridge)
    this.#exchange.inspection = { ...inspection!, model }
    const unknown = this.#unknown(ask, frame)
    if ('code' in unknown) return this.#refuse(unknown, bridge)
    if (unknown.length > 0) {
      const owner = await findOwner(this.#gateway, this.#exchange, unknown)
      if (owner.kind === 'refused') return this.#refuse(owner.fault, bridge)
      if (owner.kind === 'missing') return this.#missing(owner.name, owner.why, bridge)
      this.#exchange.pin = owner.pin
    }
    const provider = await bridge.open(() => openProvider(this.#gateway, this.#exchange))
    if (provider === null) return null
    this.standsWith(provider)
    return this.#renamed(ask, frame, bridge)
  }

  async #checkOwner(ask: FrameAsk, frame: Frame, names: readonly ObjectName[], bridge: Bridge): Promise<Frame | null> {
    const owner = await findOwner(this.#gateway, this.#exchange, names)
    if (owner.kind === 'refused') return this.#refuse(owner.fault, bridge)
    if (owner.kind === 'missing') return this.#missing(owner.name, owner.why, bridge)
    if (!isAt(this.#place(), owner.pin)) {
      const message = `The ${owner.pin.what} lives in another account than the one that this connection is with. Open another connection for it.`
      return this.#refuse(fault('invalid_request', message), bridge)
    }
    return this.#renamed(ask, frame, bridge)
  }

  /** The lane's own words, as for a request; operators learn why. */
  #missing(name: ObjectName, why: string, bridge: Bridge): null {
    this.#exchange.routingSignals.push({ rule: 'object', verdict: 'deny', text: why })
    const message = `There is no ${name.type.replaceAll('_', ' ')} ${quote(name.id)} for this key.`
    return this.#refuse(fault('object_not_found', message), bridge)
  }

  /** Told; a connection that leads nowhere yet ends with it. */
  #refuse(reason: Fault, bridge: Bridge): null {
    if (this.#provider === null) bridge.end(reason)
    else bridge.tell(reason)
    return null
  }

  /** What the frame refers to and this connection has not seen made. */
  #unknown({ bodyOf, own }: FrameAsk, frame: Frame): readonly ObjectName[] | Fault {
    if (bodyOf === null) return none
    const found = bodyOf.endpoint.references('', frame.bytes)
    if ('code' in found) return found
    return found.filter((name) => !own.includes(name.type) && !this.#down.knows(name))
  }

  #judge(model: string): Fault | null {
    const { exchange, gateway } = { exchange: this.#exchange, gateway: this.#gateway }
    const policy = effectivePolicy(gateway.model.configuration.policies, exchange.key!)
    const { bodyLimit } = gateway.settings
    const verdict = judgeCall({ lane: exchange.lane!.name, model, bytes: 0, bodyLimit }, policy)
    if (verdict.fault !== null) exchange.policySignals.push(...verdict.signals)
    return verdict.fault
  }

  /** The frame with the models' names as the provider knows them. */
  #renamed({ model, additionalModels: further }: FrameAsk, frame: Frame, bridge: Bridge): Frame | null {
    const renames: Rename[] = []
    for (const named of model === null ? further : [model, ...further]) {
      const to = this.#nameAt(named.name, named === model)
      if (typeof to !== 'string') return this.#refuse(to, bridge)
      if (to !== named.name) renames.push({ model: named, to })
      this.#note(named.name, to)
    }
    return renames.length === 0 ? frame : { ...frame, bytes: this.#splice(frame.bytes, renames) }
  }

  /** Of a connection that was made without a model, the first that is named is what it is for. */
  #note(name: string, to: string): void {
    const { inspection } = this.#exchange
    if (inspection!.model !== null) return
    this.#exchange.inspection = { ...inspection!, model: name }
    this.#exchange.upstreamModel = to
  }

  /** A model's name at this connection's provider; a fault where the model is not the caller's to use, or not here. */
  #nameAt(name: string, main: boolean): string | Fault {
    const { inspection, upstreamModel } = this.#exchange
    if (main && name === inspection!.model) return upstreamModel ?? name
    const denied = this.#judge(name)
    if (denied !== null) return denied
    const planned = planModel(this.#gateway, this.#exchange, name, { what: 'connection', ...this.#place() })
    if (planned.route !== null) return planned.candidates[0]?.upstreamModel ?? name
    // For a part of the work a provider's own name will do: there is no choice of providers in it.
    if (!main) return name
    const message = `This connection is with a provider that has no route for the model ${quote(name)}. Open another connection for it.`
    return fault('model_not_found', message, { param: 'model' })
  }

  #place() {
    const { provider, credentialIndex } = this.#provider!
    return { providerId: provider.row.id, credentialId: provider.row.credentials[credentialIndex]?.id ?? null }
  }

  #splice(bytes: Buffer, renames: readonly Rename[]): Buffer {
    const { lane, inspection, routingSignals, provider } = this.#exchange
    let spliced = bytes
    // From the end, so that what was found before stays where it was.
    for (const { model, to } of renames.toSorted((one, other) => startOf(other) - startOf(one))) {
      spliced = lane!.patchBody(
        spliced,
        { ...inspection!, modelSpans: model.spans },
        { renameTo: to, askForUsage: false },
      )
      const text = flatText("The model's name was changed to ", to, ' for ', provider ?? '', '.')
      if (!routingSignals.some((signal) => signal.text === text))
        routingSignals.push({ rule: 'splice', verdict: 'note', text })
    }
    return spliced
  }
}

function startOf({ model }: Rename): number {
  return model.spans[0]?.start ?? 0
}
