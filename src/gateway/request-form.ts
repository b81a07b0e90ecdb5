import { type Fault, fault } from '../core/errors.ts'
import type { BodyForm } from '../lanes/contract.ts'

/** Which of its forms the body has: as its content-type says, else the first that the endpoint takes. */
export function requestForm(requestForms: readonly BodyForm[], contentType: string | undefined): BodyForm {
  if (requestForms.length === 1) return requestForms[0]!
  const said = readForm(contentType ?? '')
  return said !== null && requestForms.includes(said) ? said : (requestForms[0] ?? 'bytes')
}

function readForm(contentType: string): BodyForm | null {
  const type = contentType.split(';', 1)[0]!.trim().toLowerCase()
  if (type === 'multipart/form-data') return 'multipart'
  if (type === 'application/json' || type.endsWith('+json')) return 'json'
  return type === '' ? null : 'bytes'
}

const usual = 'application/json'
const jsonForm = /^\s*application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i
const charset = /charset\s*=\s*["']?([^"';,\s]*)/gi
/** In which names and quotation marks are the bytes that they are in ASCII, and no byte of another letter is one of those. */
const harmless = /^(?:utf-?8|(?:us-)?ascii|iso-?8859-\d+|latin-?\d|windows-125\d)?$/i

export function isJson(contentType: string | undefined): boolean {
  return contentType === usual || jsonForm.test(contentType ?? '')
}

/** Why a JSON body in this alphabet is not read: in another (UTF-7, UTF-16), the provider might read other members than are read here. */
export function refuseAlphabet(contentType: string | undefined): Fault | null {
  if (contentType === undefined || contentType === usual) return null
  for (const [, name = ''] of contentType.matchAll(charset)) {
    if (!harmless.test(name))
      return fault(
        'invalid_request',
        'JSON in another alphabet than UTF-8 is not read here; send it in UTF-8, and say no other charset.',
      )
  }
  return null
}
