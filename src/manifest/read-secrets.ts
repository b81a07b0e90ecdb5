import { moment } from './forms.ts'
import { below, type Place, type Reader } from './reader.ts'
import { type Entry, isObject, type Plain } from './resource.ts'

const hashForm = /^[0-9a-f]{64}$/

/** What an export carries of a key, so that a wiped gateway admits it again: `sha256`, `last_four`, and `former` while a rotation's grace runs. */
export function readSecrets(reader: Reader, entry: Entry, tree: Record<string, unknown>, place: Place): void {
  const { former } = tree
  if (tree.sha256 === undefined && tree.last_four === undefined && former === undefined) return
  const current = readSecret(reader, tree, place)
  if (current === null) return
  const secrets: Plain[] = [{ ...current, expires_at: null }]
  if (isObject(former)) {
    const at = below(place, 'former')
    const second = readSecret(reader, former, at)
    const expires = moment.read(former.expires_at)
    if (expires === undefined) reader.refuse(at, `expires_at: expected ${moment.expected}`)
    else if (second !== null) secrets.push({ ...second, expires_at: expires })
  }
  entry.fields.secrets = secrets
  entry.placeOf.secrets = place.file.place([...place.path, 'sha256'])
}

function readSecret(
  reader: Reader,
  { sha256, last_four }: Record<string, unknown>,
  place: Place,
): { sha256: string; last_four: string } | null {
  const hash = typeof sha256 === 'string' ? sha256.toLowerCase() : ''
  if (!hashForm.test(hash)) {
    reader.refuse(below(place, 'sha256'), 'sha256: expected the SHA-256 of the key in 64 hexadecimal digits')
    return null
  }
  // Four digits are a number to YAML.
  const ending = typeof last_four === 'number' ? String(last_four).padStart(4, '0') : last_four
  if (typeof ending !== 'string' || !/^[0-9A-Za-z]{4}$/.test(ending)) {
    reader.refuse(below(place, 'last_four'), 'last_four: expected the last four characters of the key, in quotes')
    return null
  }
  return { sha256: hash, last_four: ending }
}
