import type { FormatName } from '../core/format.ts'

/** One way to write a message of a single text: the bytes before and after it. */
interface TurnFrame {
  before: Buffer
  after: Buffer
}

/** The frames of a question and its answer. */
interface TurnFrames {
  user: TurnFrame
  assistant: TurnFrame
}

/**
 * Alternating questions and answers of nothing but text. They stay the bytes of the client's body, and a provider gets the same texts in
 * other frames. An answer precedes them and a question follows, both parsed like any other message, so no rule of a format about
 * neighbours, beginnings and ends concerns them.
 */
export class PlainTurns {
  readonly #bytes: Buffer
  /** The start and end of each text, without quotes. */
  readonly #texts: Uint32Array
  /** The length of the decoded texts. */
  readonly textBytes: number
  /** The run's number in the document. */
  readonly number: number

  constructor(bytes: Buffer, texts: Uint32Array, textBytes: number, number: number) {
    this.#bytes = bytes
    this.#texts = texts
    this.textBytes = textBytes
    this.number = number
    // Not enumerable, so that code that walks through members skips them.
    Object.defineProperties(this, { textBytes: { enumerable: false }, number: { enumerable: false } })
  }

  get count(): number {
    return this.#texts.length / 2
  }

  /** Decodes the text. */
  textAt(index: number): string {
    const written = this.#bytes.toString('utf8', this.#texts[2 * index], this.#texts[2 * index + 1])
    return written.includes('\\') ? JSON.parse(`"${written}"`) : written
  }

  /** Part of the run, from a question to before another one. */
  slice(from: number, to: number, number: number): PlainTurns {
    const texts = this.#texts.slice(2 * from, 2 * to)
    let textBytes = 0
    for (let index = from; index < to; index++) textBytes += Buffer.byteLength(this.textAt(index))
    return new PlainTurns(this.#bytes, texts, textBytes, number)
  }

  /** The turns as messages of a format, separated by commas. */
  writeFor(format: FormatName): ReframedTurns {
    return new ReframedTurns(this.#bytes, this.#texts, written[format])
  }
}

/** Plain turns in the frames of one format, not yet written. */
export class ReframedTurns {
  readonly #bytes: Buffer
  readonly #texts: Uint32Array
  readonly #opening: Buffer
  /** The bytes from a question's text to its answer's, and from there to the next question's. */
  readonly #between: readonly [Buffer, Buffer]
  readonly #closing: Buffer
  readonly length: number

  constructor(bytes: Buffer, texts: Uint32Array, { user, assistant }: TurnFrames) {
    this.#bytes = bytes
    this.#texts = texts
    this.#opening = user.before
    this.#between = [join(user.after, assistant.before), join(assistant.after, user.before)]
    this.#closing = assistant.after
    const [toAnswer, toQuestion] = this.#between
    const pairs = texts.length / 4
    let length = this.#opening.length + pairs * toAnswer.length + (pairs - 1) * toQuestion.length + this.#closing.length
    for (let at = 0; at < texts.length; at += 2) length += (texts[at + 1] ?? 0) - (texts[at] ?? 0)
    this.length = length
  }

  /** Returns the index after what it has written. */
  copyTo(target: Buffer, start: number): number {
    const texts = this.#texts
    const [toAnswer, toQuestion] = this.#between
    target.set(this.#opening, start)
    let at = start + this.#opening.length
    for (let index = 0; index < texts.length; index += 2) {
      at += this.#bytes.copy(target, at, texts[index], texts[index + 1])
      const isLast = index + 2 === texts.length
      const next = isLast ? this.#closing : index % 4 === 0 ? toAnswer : toQuestion
      target.set(next, at)
      at += next.length
    }
    return at
  }
}

function join(after: Buffer, before: Buffer): Buffer {
  return Buffer.concat([after, Buffer.from(','), before])
}

/** `role` and `text` stand for what differs. */
function frame(form: string, role: string): TurnFrame {
  const [before = '', after = ''] = form.replace('ROLE', role).split('TEXT')
  return { before: Buffer.from(before), after: Buffer.from(after) }
}

function turnFrames(form: string, assistant: string, answerForm = form): TurnFrames {
  return { user: frame(form, 'user'), assistant: frame(answerForm, assistant) }
}

const text = '{"role":"ROLE","content":"TEXT"}'
const texts = '{"role":"ROLE","content":[{"type":"text","text":"TEXT"}]}'
const parts = '{"role":"ROLE","parts":[{"text":"TEXT"}]}'
const inputTexts = '{"role":"ROLE","content":[{"type":"input_text","text":"TEXT"}]}'
const outputTexts = '{"role":"ROLE","content":[{"type":"output_text","text":"TEXT"}]}'

/** The form in which each format's writer writes a message of one text. */
const written: Readonly<Record<FormatName, TurnFrames>> = {
  chat: turnFrames(text, 'assistant'),
  messages: turnFrames(texts, 'assistant'),
  responses: turnFrames(
    '{"type":"message","role":"ROLE","content":[{"type":"input_text","text":"TEXT"}]}',
    'assistant',
    '{"type":"message","role":"ROLE","content":[{"type":"output_text","text":"TEXT","annotations":[]}]}',
  ),
  generate: turnFrames(parts, 'model'),
}

/** Python's JSON has spaces. Messages with any other spacing are parsed normally. */
function bothSpacings(pair: TurnFrames): TurnFrames[] {
  const spaced = ({ before, after }: TurnFrame): TurnFrame => {
    const space = (bytes: Buffer) => Buffer.from(bytes.toString().replaceAll('":', '": ').replaceAll(',"', ', "'))
    return { before: space(before), after: space(after) }
  }
  return [pair, { user: spaced(pair.user), assistant: spaced(pair.assistant) }]
}

/** Where a format has its messages, and how its clients write those of one text. */
export interface PlainForms {
  list: string
  pairs: readonly TurnFrames[]
}

export const plainForms: Readonly<Record<FormatName, PlainForms>> = {
  chat: {
    list: 'messages',
    pairs: [turnFrames(text, 'assistant'), turnFrames(texts, 'assistant')].flatMap(bothSpacings),
  },
  messages: {
    list: 'messages',
    pairs: [turnFrames(text, 'assistant'), turnFrames(texts, 'assistant')].flatMap(bothSpacings),
  },
  responses: {
    list: 'input',
    pairs: [turnFrames(text, 'assistant'), turnFrames(inputTexts, 'assistant', outputTexts)].flatMap(bothSpacings),
  },
  generate: { list: 'contents', pairs: bothSpacings(turnFrames(parts, 'model')) },
}
