import type { AdminClient } from '../../src/admin/client.ts'
import type { Account } from './account.ts'
import type { Stage } from './call.ts'
import type { CrashProvider } from './provider.ts'
import type { Random } from './random.ts'

export const changeKinds = ['rotate-key', 'edit-route', 'replace-credential', 'rotate-seal'] as const
export type ChangeKind = (typeof changeKinds)[number]

/**
 * Changes of the configuration while the gateway is being killed. What was acknowledged must hold from then on; what
 * was not may have happened or not, and is settled by a change that is acknowledged before the next one begins.
 */
export class Changes {
  acknowledged = 0
  readonly #stage: Stage
  readonly #provider: CrashProvider
  readonly #random: Random
  #doubt: ChangeKind | null = null
  #retries = 1
  #wanted = 1
  #keys = 0
  #number = 0

  constructor(stage: Stage, provider: CrashProvider, random: Random) {
    this.#stage = stage
    this.#provider = provider
    this.#random = random
  }

  get inDoubt(): boolean {
    return this.#doubt !== null
  }

  /** Rejects when the gateway dies under it. */
  async make(kind: ChangeKind, admin: AdminClient): Promise<void> {
    this.#doubt = kind
    await this.#ways[kind](admin)
    this.#doubt = null
    this.acknowledged++
  }

  /** While nothing else goes on: looks for what was acknowledged, and clears up what was not. */
  async settle(admin: AdminClient, account: Account): Promise<void> {
    const { retries } = await admin.routes.show({ model: this.#stage.models.openai })
    if (retries !== this.#retries && retries !== this.#wanted) {
      account.wrong(`the route has ${retries} retries; ${this.#retries} were acknowledged`)
    }
    this.#retries = retries
    const { broken } = await admin.seal.status({})
    if (broken.length > 0) account.wrong(`the machine key does not open ${broken.join(', ')}`)
    if (this.#doubt === 'rotate-key') await this.#replaceKey(admin)
    if (this.#doubt === 'replace-credential') await this.#ways['replace-credential'](admin)
    this.#doubt = null
    // Nothing is under way that still carries an older one: from here on a lost change shows as a refusal.
    this.#provider.credentials.clear()
    this.#provider.credentials.add(credential(this.#number))
  }

  readonly #ways: Record<ChangeKind, (admin: AdminClient) => Promise<void>> = {
    'rotate-key': async (admin) => {
      // The former secret works on, whether this one is acknowledged or not.
      this.#stage.key = (await admin.keys.rotate({ key: this.#stage.keyName })).key
    },
    'edit-route': async (admin) => {
      this.#wanted = this.#random.between(1, 5)
      await admin.routes.edit({ model: this.#stage.models.openai, retries: this.#wanted })
      this.#retries = this.#wanted
    },
    'replace-credential': async (admin) => {
      this.#provider.credentials.add(credential(++this.#number))
      await admin.providers.edit({ name: 'openai', credential: credential(this.#number) })
    },
    'rotate-seal': async (admin) => {
      await admin.seal.rotate({})
    },
  }

  /** A second rotation in doubt could end the grace of the secret that is in use. */
  async #replaceKey(admin: AdminClient): Promise<void> {
    this.#stage.keyName = `load-${++this.#keys}`
    this.#stage.key = (await admin.keys.create({ name: this.#stage.keyName })).key
  }
}

export function credential(number: number): string {
  return `sk-crash-${number}-0123456789abcdefghij`
}
