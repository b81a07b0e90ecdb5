import { randomBytes } from 'node:crypto'
import { type Certificate, checkDates, readCertificate } from '../../config/certificate.ts'
import type { Settings } from '../../config/settings.ts'
import { SettingsRefused } from '../../config/settings-refused.ts'
import type { ServerCertificate } from '../../gateway/thread/messages.ts'
import { certificateProblem } from '../../gateway/thread/server-address.ts'
import type { Log } from '../log.ts'

/** Of both listeners; null where one speaks plain HTTP. */
export interface Certificates {
  gateway: Certificate | null
  console: Certificate | null
}

/** Reads what the settings name, and tries whether TLS can be spoken with it. Throws `SettingsRefused`. */
export function readCertificates(settings: Pick<Settings, 'gateway' | 'console'>): Certificates {
  return { gateway: readOne(settings, 'gateway'), console: readOne(settings, 'console') }
}

function readOne(settings: Pick<Settings, 'gateway' | 'console'>, section: 'gateway' | 'console'): Certificate | null {
  const files = settings[section].tls
  if (files === null) return null
  const certificate = readCertificate(`${section}.tls`, files)
  const reason = certificateProblem(openCertificate(certificate))
  if (reason !== null)
    throw new SettingsRefused([{ place: `${section}.tls.cert`, message: `${files.cert}: ${reason}` }])
  return certificate
}

/** As the console's listener takes it. */
export function openCertificate({ cert, key }: Certificate): { cert: string; key: string } {
  return { cert, key: key.reveal() }
}

/** As the data plane's listeners take it: a session that was begun under the certificate before is not resumed. */
export function openForThreads(certificate: Certificate): ServerCertificate {
  return { ...openCertificate(certificate), ticketKeys: randomBytes(48) }
}

export function sameCertificate(one: Certificate | null, other: Certificate | null): boolean {
  return one?.cert === other?.cert && one?.key.reveal() === other?.key.reveal()
}

/** Says what is served with, and warns of a certificate that clients will not believe. */
export function announceCertificates(certificates: Certificates, log: Log): void {
  for (const [section, certificate] of Object.entries(certificates)) {
    if (certificate === null) continue
    const { leaf } = certificate as Certificate
    const fault = checkDates(certificate, Date.now())
    const fields = {
      listener: section,
      names: leaf.subjectAltName ?? leaf.subject,
      expires: leaf.validToDate.toISOString(),
    }
    if (fault === null) log.info('certificate', fields)
    else log.warn(`certificate ${fault}`, fields)
  }
}
