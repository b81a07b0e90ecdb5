import type { BodyForm } from '../lanes/contract.ts'

/** Which of its forms the body has: as its content-type says, else the first that the endpoint takes. */
export function requestForm(takes: readonly BodyForm[], contentType: string | undefined): BodyForm {
  if (takes.length === 1) return takes[0]!
  const said = readForm(contentType ?? '')
  return said !== null && takes.includes(said) ? said : (takes[0] ?? 'bytes')
}

function readForm(contentType: string): BodyForm | null {
  const type = contentType.split(';', 1)[0]!.trim().toLowerCase()
  if (type === 'multipart/form-data') return 'multipart'
  if (type === 'application/json' || type.endsWith('+json')) return 'json'
  return type === '' ? null : 'bytes'
}
