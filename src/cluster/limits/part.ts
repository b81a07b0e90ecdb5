import { randomBytes } from 'node:crypto'
import { sharedTime } from '../../policy/limits/bucket-clock.ts'
import type { LimitWant } from '../../policy/limits/limit-counters.ts'
import type { LimitsStart, ValkeyFacts } from '../protocol.ts'
import { Valkey } from '../valkey.ts'
import { ValkeyChannel } from '../valkey-channel.ts'
import { LimitDriver } from './driver.ts'

export interface LimitEvents {
  onTrouble(reason: string | null): void
  onHeard(texts: string[]): void
  /** Why nodes cannot notify each other; null: they can. */
  onChannel(trouble: string | null): void
}

/** The cluster thread's use of Valkey: limits that nodes share, and messages between nodes. */
export class LimitPart {
  readonly #driver: LimitDriver
  readonly #valkey: Valkey | null
  readonly #channel: ValkeyChannel | null
  /** Resolves once limits are granted here, or it is known that they cannot be for now. */
  readonly granting: Promise<void>

  private constructor(
    driver: LimitDriver,
    valkey: Valkey | null,
    channel: ValkeyChannel | null,
    granting: Promise<void>,
  ) {
    this.#driver = driver
    this.granting = granting
    this.#valkey = valkey
    this.#channel = channel
  }

  static async open(
    { address, memory, without, quiet, member }: LimitsStart,
    { onTrouble, onHeard, onChannel }: LimitEvents,
  ): Promise<LimitPart> {
    const granting = Promise.withResolvers<void>()
    const note = (reason: string | null) => {
      if (reason !== null) granting.resolve()
      onTrouble(reason)
    }
    const valkey = member === null ? null : await Valkey.open(address, note)
    if (valkey === null) granting.resolve()
    const channel =
      member === null || valkey === null
        ? null
        : await ValkeyChannel.open({ address, valkey, cluster: member.cluster, onHeard, onTrouble: onChannel })
    const newLife = () => randomBytes(9).toString('base64url')
    const driver = new LimitDriver({
      ...{ memory, member, newLife, quiet, without, valkey, now: sharedTime() },
      onGranting: () => granting.resolve(),
    })
    driver.start()
    return new LimitPart(driver, valkey, channel, granting.promise)
  }

  /** What the server reports about itself; null: it has not been reached yet. */
  get facts(): ValkeyFacts | null {
    return this.#valkey?.facts ?? null
  }

  setMembers(members: readonly string[], cameAlone: boolean): void {
    this.#driver.setMembers(members, cameAlone)
  }

  want(want: LimitWant): void {
    this.#driver.want(want)
  }

  /** A message that is lost because Valkey is away is repeated by its sender. */
  notify(text: string, keeps: boolean): void {
    void this.#channel?.notify(text, keeps).catch(() => {})
  }

  stop(): void {
    this.#channel?.close()
    this.#driver.stop()
    this.#valkey?.close()
  }
}
