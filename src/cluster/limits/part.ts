import { randomBytes } from 'node:crypto'
import { sharedTime } from '../../policy/limits/bucket-clock.ts'
import type { LimitWant } from '../../policy/limits/limit-counters.ts'
import type { LimitsStart } from '../protocol.ts'
import { Valkey } from '../valkey.ts'
import { LimitDriver } from './driver.ts'

/** What the cluster thread does for limits that nodes share: a connection and what goes over it. */
export class LimitPart {
  readonly #driver: LimitDriver
  readonly #valkey: Valkey | null

  private constructor(driver: LimitDriver, valkey: Valkey | null) {
    this.#driver = driver
    this.#valkey = valkey
  }

  static async open(
    { address, memory, without, quiet, member }: LimitsStart,
    onTrouble: (reason: string | null) => void,
  ): Promise<LimitPart> {
    const valkey = member === null ? null : await Valkey.open(address, onTrouble)
    const newLife = () => randomBytes(9).toString('base64url')
    const driver = new LimitDriver({ memory, member, newLife, quiet, without, valkey, now: sharedTime() })
    driver.start()
    return new LimitPart(driver, valkey)
  }

  /** Name and version of the server; null: it was not reached yet. */
  get product(): string | null {
    return this.#valkey?.product ?? null
  }

  setMembers(members: readonly string[]): void {
    this.#driver.setMembers(members)
  }

  want(want: LimitWant): void {
    this.#driver.want(want)
  }

  stop(): void {
    this.#driver.stop()
    this.#valkey?.close()
  }
}
