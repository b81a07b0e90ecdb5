import { ownValue } from '../core/own-value.ts'

/** The file types that OpenAI accepts: it recognises them by the extension, and rejects names without one. */
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

/** Adds the extension to a name or title. For a type that has no row here, the name stays. */
export function fileNameFor(type: string, name: string): string {
  const ending = ownValue(endings, type)
  return ending === undefined || name.toLowerCase().endsWith(`.${ending}`) ? name : `${name}.${ending}`
}

/** The type of a file that is given as base64 alone: a PDF, unless the name says otherwise. */
export function typeForName(name: string | null): string {
  const found = Object.entries(endings).find(([, ending]) => name?.toLowerCase().endsWith(`.${ending}`))
  return found?.[0] ?? 'application/pdf'
}
