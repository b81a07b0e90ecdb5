/** What a provider answers. */
export interface Answer {
  type: string
  text: string
}

/** Server-sent events, with their names where they have a type. */
export const sse = (...values: object[]) => ({
  type: 'text/event-stream',
  text: values
    .map((value) => `${'type' in value ? `event: ${value.type}\n` : ''}data: ${JSON.stringify(value)}\n\n`)
    .join(''),
})
export const done = (stream: { type: string; text: string }) => ({ ...stream, text: `${stream.text}data: [DONE]\n\n` })
export const json = (value: object) => ({ type: 'application/json', text: JSON.stringify(value) })

export function readEvents(text: string): Record<string, unknown>[] {
  if (text.startsWith('[')) return JSON.parse(text)
  return text.split('\n\n').flatMap((event) => {
    const data = event.split('\n').find((line) => line.startsWith('data: {'))
    return data === undefined ? [] : [JSON.parse(data.slice(6))]
  })
}

/** All strings below members of a name, joined. */
export function joined(value: unknown, name: string): string {
  if (typeof value !== 'object' || value === null) return ''
  return Object.entries(value)
    .map(([member, inner]) => (member === name && typeof inner === 'string' ? inner : joined(inner, name)))
    .join('')
}

/** Cut once at every place, and in single letters. */
export function cuts(text: string): string[][] {
  return [...[...text].map((_, at) => [text.slice(0, at), text.slice(at)]), [...text]]
}
