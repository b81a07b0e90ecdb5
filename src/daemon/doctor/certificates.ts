import { checkDates, readCertificate } from '../../config/certificate.ts'
import type { Settings } from '../../config/settings.ts'
import { SettingsRefused } from '../../config/settings-refused.ts'
import type { Diagnostic } from '../../core/diagnostic.ts'
import { ok, problem, warning } from '../../core/diagnostic.ts'

const dayMs = 24 * 3600_000
const soonDays = 21

export function checkCertificates(settings: Settings, now: number): Diagnostic[] {
  return (['gateway', 'console'] as const).flatMap((name) => {
    const { tls } = settings[name]
    return tls === null ? [] : [checkCertificate(name, tls, now)]
  })
}

function checkCertificate(name: 'gateway' | 'console', files: { cert: string; key: string }, now: number): Diagnostic {
  const check = `${name} certificate`
  const remedy = `Renew it in ${files.cert}, then: kill -HUP the gateway.`
  try {
    const certificate = readCertificate(`${name}.tls`, files)
    const fault = checkDates(certificate, now)
    if (fault !== null) return problem(check, fault, remedy)
    const until = certificate.leaf.validToDate
    const days = Math.floor((until.getTime() - now) / dayMs)
    const message = `valid until ${until.toISOString().slice(0, 10)}`
    return days < soonDays ? warning(check, `${message}, ${days} days from now`, remedy) : ok(check, message)
  } catch (error) {
    if (!(error instanceof SettingsRefused)) throw error
    return problem(check, error.message, 'Give a certificate and its private key, both in PEM.')
  }
}
