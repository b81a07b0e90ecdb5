import { type FormatName, isFormatName } from '../../../../core/format.ts'

export interface FormatsSearch {
  from?: FormatName
  to?: FormatName
}

export function readFormats({ from, to }: Record<string, unknown>): FormatsSearch {
  return { ...(isFormatName(from) && { from }), ...(isFormatName(to) && { to }) }
}

/** As people know them. */
export const formatTitles: Readonly<Record<FormatName, string>> = {
  chat: 'OpenAI chat completions',
  responses: 'OpenAI responses',
  messages: 'Anthropic messages',
  generate: 'Gemini generateContent',
}
