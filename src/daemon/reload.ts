import { compareSettings } from '../config/compare.ts'
import { logLevels, type Settings } from '../config/settings.ts'
import type { ConsoleSettings } from '../console/listener.ts'
import { errorText } from '../core/caught.ts'
import type { ServerCertificate } from '../gateway/thread/messages.ts'
import type { ClusterPart } from './cluster/cluster.ts'
import { keepsOf } from './foundation.ts'
import {
  announceCertificates,
  type Certificates,
  openCertificate,
  openForThreads,
  readCertificates,
  sameCertificate,
} from './health/certificates.ts'
import type { Log } from './log.ts'

/** The parts that obey settings while they run. */
export interface Reloadable {
  /** A null certificate leaves the one in use. */
  control: {
    change(settings: Settings, certificate: ServerCertificate | null): Promise<void>
    reportConfiguration(reason: string | null): void
  }
  consoleListener: { change(settings: ConsoleSettings): void }
  cluster: Pick<ClusterPart, 'keep'> | null
  log: Log
  /** Level and format of the lines that follow. */
  changeLog(settings: Settings): void
}

/** Settings and certificates in use, and how they are replaced: whole, when all of what was read is good, or not at all. */
export class Reloader {
  readonly #parts: Reloadable
  #settings: Settings
  #certificates: Certificates
  #running: Promise<void> = Promise.resolve()

  constructor(parts: Reloadable, settings: Settings, certificates: Certificates) {
    this.#parts = parts
    this.#settings = settings
    this.#certificates = certificates
  }

  /** One at a time, in the order asked. Never rejects: what is wrong is logged, and shown as degraded. */
  reload(read: () => Promise<Settings>): Promise<void> {
    this.#running = this.#running.then(() => this.#reload(read)).catch((error: unknown) => this.#refuse(error))
    return this.#running
  }

  async #reload(read: () => Promise<Settings>): Promise<void> {
    const { control, log } = this.#parts
    const wanted = await read()
    // Also of a listener that is to speak TLS from the next start on, which would be refused.
    readCertificates(wanted)
    const { settings, applied, waiting } = compareSettings(this.#settings, wanted)
    const certificates = readCertificates(settings)
    const renewed = (['gateway', 'console'] as const).filter(
      (section) => !sameCertificate(certificates[section], this.#certificates[section]),
    )
    const before = this.#settings
    await this.#apply(settings, certificates, renewed.includes('gateway'))
    // What a reload says is seen under the old level as well as under the new one.
    if (isLouder(settings, before)) this.#parts.changeLog(settings)
    control.reportConfiguration(null)
    log.info('configuration reloaded', {
      changed: listed([...applied, ...renewed.map((section) => `certificate of ${section}`)]),
      waits_for_restart: listed(waiting),
    })
    if (renewed.length > 0) announceCertificates(certificates, log)
    this.#parts.changeLog(settings)
  }

  async #apply(settings: Settings, certificates: Certificates, renewed: boolean): Promise<void> {
    const { control, consoleListener, cluster } = this.#parts
    const certificate = renewed && certificates.gateway !== null ? openForThreads(certificates.gateway) : null
    await control.change(settings, certificate)
    consoleListener.change(consoleSettings(settings, certificates))
    cluster?.keep(keepsOf(settings))
    this.#settings = settings
    this.#certificates = certificates
  }

  #refuse(error: unknown): void {
    const reason = errorText(error)
    const { control, log } = this.#parts
    log.error('configuration not reloaded: the previous one stays in use', { reason })
    // All that is wrong, on the one line that a part has where it is shown.
    const all = reason.replaceAll('\n', '; ')
    control.reportConfiguration(`the new settings are invalid; the previous ones stay in use: ${all}`)
  }
}

export function consoleSettings(
  { console: own, gateway }: Settings,
  { console: certificate }: Certificates,
): ConsoleSettings {
  const { url, metricsToken, oidc } = own
  const { trustedProxies } = gateway
  return {
    url,
    metricsToken,
    trustedProxies,
    oidc,
    certificate: certificate === null ? null : openCertificate(certificate),
  }
}

function isLouder(next: Settings, before: Settings): boolean {
  return logLevels.indexOf(next.log.level) < logLevels.indexOf(before.log.level)
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? 'nothing' : names.join(', ')
}
