import { formatBytes } from '../src/core/text/format-bytes.ts'
import type { Output } from './io.ts'

/** A bar on a terminal; nothing elsewhere, so that logs and scripts see the result alone. */
export interface Progress {
  /** `total` null: nobody knows. */
  show(stage: string, bytes: number, total: number | null): void
  /** Takes the bar away. */
  end(): Promise<void>
}

const width = 24
const pauseMs = 80
const clear = '\r\u001b[K'

export function openProgress(io: { stderr: Pick<Output, 'isTerminal' | 'write'> }): Progress {
  if (!io.stderr.isTerminal) return { show: () => {}, end: async () => {} }
  let shownAt = Number.NEGATIVE_INFINITY
  let stageShown = ''
  // One write after the other, and none that nobody waits for: a terminal that has gone is found at the end.
  let writing: Promise<void> = Promise.resolve()
  const write = (text: string) => {
    writing = writing.then(() => io.stderr.write(text))
    writing.catch(() => {})
  }
  return {
    show(stage, bytes, total) {
      const now = performance.now()
      if (stage === stageShown && bytes !== total && now - shownAt < pauseMs) return
      shownAt = now
      stageShown = stage
      write(clear + renderBar(stage, bytes, total))
    },
    end() {
      if (stageShown !== '') write(clear)
      return writing
    },
  }
}

/** `copying    ██████████░░░░░░░░░░░░░░  42%  1.3 MB of 3.1 MB` */
export function renderBar(stage: string, bytes: number, total: number | null): string {
  if (total === null || total === 0) return `${stage.padEnd(10)} ${formatBytes(bytes)}`
  const share = Math.min(1, bytes / total)
  const full = Math.round(share * width)
  const bar = '█'.repeat(full) + '░'.repeat(width - full)
  const percent = String(Math.floor(share * 100)).padStart(3)
  return `${stage.padEnd(10)} ${bar} ${percent}%  ${formatBytes(bytes)} of ${formatBytes(total)}`
}
