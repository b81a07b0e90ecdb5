import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasProgram } from './executable.ts'

export const hasOpenssl = hasProgram('openssl')

export interface TestCertificate {
  cert: string
  key: string
  pem: string
}

/** A new self-signed certificate of one name, as files in a directory. Needs openssl. */
export function makeCertificate(directory: string, name: string, more: string[] = []): TestCertificate {
  const [cert, key] = [join(directory, `${name}.pem`), join(directory, `${name}.key`)]
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`]
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const { status, stderr } = spawnSync(
    'openssl',
    ['req', '-x509', ...kind, '-days', '2', ...subject, '-keyout', key, '-out', cert, ...more],
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(stderr)
  return { cert, key, pem: readFileSync(cert, 'utf8') }
}
