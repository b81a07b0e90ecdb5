import { ownValue } from '../core/own-value.ts'

/** By the types that OpenAI reads: it tells the type of a file by the end of its name, and refuses one without. */
const endings: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'application/json': 'json',
  'application/msword': 'doc',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.ms-powerpoint': 'ppt',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'pptx',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'text/csv': 'csv',
  'text/html': 'html',
  'text/markdown': 'md',
  'text/plain': 'txt',
}

/** A title is no file name yet. A type that has no row here: the name as it is. */
export function fileNameFor(type: string, name: string): string {
  const ending = ownValue(endings, type)
  return ending === undefined || name.toLowerCase().endsWith(`.${ending}`) ? name : `${name}.${ending}`
}

/** Of a file that is said in base64 alone. Clients mean a PDF, unless the name says otherwise. */
export function typeForName(name: string | null): string {
  const found = Object.entries(endings).find(([, ending]) => name?.toLowerCase().endsWith(`.${ending}`))
  return found?.[0] ?? 'application/pdf'
}
