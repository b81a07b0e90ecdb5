import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { errorCode } from '../core/caught.ts'
import { Secret } from '../core/secrets/secret.ts'
import type { TlsFiles } from './settings.ts'
import { SettingsRefused } from './settings-refused.ts'

/** What a listener speaks TLS with. */
export interface Certificate {
  /** PEM: the leaf first, then what leads to the authority. */
  cert: string
  /** PEM, not encrypted. */
  key: Secret
  leaf: X509Certificate
}

/** Reads both files and holds them against one another. Throws `SettingsRefused`, which never shows what is in them. */
export function readCertificate(setting: 'gateway.tls' | 'console.tls', files: TlsFiles): Certificate {
  const cert = readPem(`${setting}.cert`, files.cert)
  const key = readPem(`${setting}.key`, files.key)
  const leaf = parse(`${setting}.cert`, files.cert, 'contains no PEM certificate', () => new X509Certificate(cert))
  const reason = key.includes('ENCRYPTED')
    ? 'is encrypted: use a key without a passphrase'
    : 'contains no PEM private key'
  const privateKey = parse<KeyObject>(`${setting}.key`, files.key, reason, () => createPrivateKey(key))
  if (!leaf.checkPrivateKey(privateKey)) refuse(`${setting}.key`, files.key, `does not match ${files.cert}`)
  return { cert, key: new Secret(key), leaf }
}

/** What is wrong with its dates; a gateway with such a certificate serves, and whoever calls it decides. */
export function checkDates({ leaf }: Certificate, now: number): string | null {
  if (now > leaf.validToDate.getTime()) return `expired on ${leaf.validToDate.toISOString()}`
  return now < leaf.validFromDate.getTime() ? `valid only from ${leaf.validFromDate.toISOString()}` : null
}

function readPem(setting: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const code = errorCode(error) ?? 'unknown'
    return refuse(setting, path, code === 'ENOENT' ? 'there is no such file' : `cannot be read (${code})`)
  }
}

function parse<Value>(setting: string, path: string, reason: string, read: () => Value): Value {
  try {
    return read()
  } catch {
    return refuse(setting, path, reason)
  }
}

function refuse(setting: string, path: string, reason: string): never {
  throw new SettingsRefused([{ place: setting, message: `${path}: ${reason}` }])
}
