import { fillIn } from '../../src/admin/contract/fill-in.ts'
import { escapeControls, valueAt } from '../../src/admin/contract/show-value.ts'
import { clip } from '../clip.ts'
import type { Host } from '../host.ts'
import type { KeyPress } from '../keys.ts'
import { wrap } from '../lines.ts'
import type { DrawArea, Hint, Screen } from '../screen.ts'

/** A secret that is shown this once: it leaves the memory with the screen. */
export class SecretScreen implements Screen {
  readonly title: string
  /** No press leads away by accident. */
  readonly typing = true
  readonly #host: Host
  readonly #secret: string
  readonly #note: string | undefined
  readonly #scope: string
  #url: string | null = null
  #asked = false

  constructor(
    host: Host,
    title: string,
    output: unknown,
    { field, note }: { field: string; note?: string | undefined },
  ) {
    this.#host = host
    this.title = title
    this.#secret = String(valueAt(output, field) ?? '')
    this.#note = note === undefined ? undefined : fillIn(note, output)
    const [project, environment] = [valueAt(output, 'project'), valueAt(output, 'environment')]
    this.#scope = typeof project === 'string' ? ` Project ${project}, environment ${String(environment)}.` : ''
  }

  show(): void {
    const status = this.#host.operations.find(({ name }) => name === 'status')
    if (status === undefined) return
    // Only for the example: without it the secret is as good.
    this.#host.link.call(status, {}).then(
      (answer) => {
        const url = valueAt(answer, 'gateway_url')
        this.#url = typeof url === 'string' ? url : null
        this.#host.changed()
      },
      () => {},
    )
  }

  draw({ width, theme }: DrawArea): string[] {
    const secret = chunks(escapeControls(this.#secret), width - 4)
    return [
      '',
      ...secret.map((part) => theme.paint('strong', part)),
      '',
      ...wrap(this.#note ?? `Shown only once.${this.#scope}`, width - 4),
      ...this.#example(),
      '',
      `${theme.paint('strong', 'c')} copies it, if the terminal supports that (OSC 52).`,
      ...(this.#asked ? ['', theme.paint('warning', 'It cannot be shown again. Press esc again to close.')] : []),
    ]
      .flatMap((line) => wrapStyled(line, width - 4))
      .map((line) => clip(`  ${line}`, width))
  }

  #example(): string[] {
    if (this.#note !== undefined || this.#url === null) return []
    return ['', 'Try it:', `  curl ${this.#url}/v1/models -H "Authorization: Bearer $KEY"`]
  }

  hints(): Hint[] {
    return [
      ['c', 'copy'],
      ['esc', 'close'],
    ]
  }

  press({ name }: KeyPress): boolean {
    if (name === 'c') {
      this.#host.copy(this.#secret, 'it')
      this.#asked = true
      return true
    }
    if (name !== 'escape' && name !== 'enter' && name !== 'q') return true
    // One press too many must not cost the key.
    if (this.#asked) return false
    this.#asked = true
    return true
  }
}

function chunks(text: string, width: number): string[] {
  return Array.from({ length: Math.max(1, Math.ceil(text.length / width)) }, (_, part) =>
    text.slice(part * width, (part + 1) * width),
  )
}

function wrapStyled(line: string, width: number): string[] {
  return line.includes('\u001b') ? [line] : wrap(line, width)
}
