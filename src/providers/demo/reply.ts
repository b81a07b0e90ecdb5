import { asArray, asObject, asString } from '../../core/json/json-value.ts'

/** What the demo provider says, whatever the format it is said in. */
export interface DemoReply {
  text: string
  /** The text as it is streamed: a word and the space behind it. Joined they are `text`. */
  pieces: string[]
  inputTokens: number
  outputTokens: number
  /** The client's limit on output cut it short. */
  shortened: boolean
}

const echoLimit = 400

/** The same question gives the same text. `limit`: most output tokens, null where the client set none. */
export function composeReply(question: string, prompt: string, long: boolean, limit: number | null): DemoReply {
  const echo = question.length > echoLimit ? `${question.slice(0, echoLimit)}…` : question
  const said = echo ? `You said: “${echo}”` : 'You said nothing that it could repeat.'
  const more = long ? ` ${tour}` : ''
  const all = `This is the built-in demo provider of spgw; no model was asked. ${said}${more}`.match(/\S+\s*/g) ?? []
  const pieces = limit !== null && limit < all.length ? all.slice(0, Math.max(1, limit)) : all
  return {
    text: pieces.join(''),
    pieces: [...pieces],
    inputTokens: countTokens(prompt),
    outputTokens: pieces.length,
    shortened: pieces.length < all.length,
  }
}

const tour = [
  'Your request came in on a lane, its gateway key was looked up, and a route chose this provider.',
  'What happened is on the request record: look for its id under Requests.',
  'To talk to a real model, add a provider with its credential and point the route at it.',
].join(' ')

/** Four characters a token: close enough to look right, and never billed. */
export function countTokens(text: string): number {
  return Math.max(1, Math.ceil(text.length / 4))
}

/** All text in a message's content: a string, or parts with a `text` member (whichever of the three formats). */
export function readText(content: unknown): string {
  if (typeof content === 'string') return content
  return asArray(content)
    .map((part) => (typeof part === 'string' ? part : asString(asObject(part)?.text)))
    .filter((text) => text !== '')
    .join('\n')
}

/** `prompt`: all text of the messages, for counting; `question`: the last thing the user said. */
export function readMessages(messages: unknown, member: 'content' | 'parts'): { question: string; prompt: string } {
  const read = asArray(messages).map((entry) => {
    const message = asObject(entry)
    return { user: (message?.role ?? 'user') === 'user', text: readText(message?.[member]) }
  })
  const prompt = read.map((message) => message.text).join('\n')
  return { question: read.findLast((message) => message.user && message.text)?.text ?? '', prompt }
}
