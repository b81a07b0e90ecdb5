import { type AttemptFigure, figuresOf, isPlain, isProvidersError } from '../../core/attempt-figures.ts'
import type { AttemptRecord, RequestRecord } from '../../core/record.ts'

const begins = ',"attempts":['
const ends = '],"timeline":'
const answered = '"outcome":"answered"'

/**
 * The attempts in a record's JSON; null where there is exactly one, which was answered. Neither mark can stand in a string, whose
 * quotation marks are escaped.
 */
export function readAttempts(text: string, error: RequestRecord['error']): AttemptFigure[] | null {
  const begin = text.indexOf(begins)
  const end = text.indexOf(ends, begin)
  if (begin < 0 || end < 0) return figuresIn(text, error)
  const list = text.slice(begin + begins.length, end)
  if (list === '') return []
  const first = list.indexOf('"outcome":')
  const isAnswered = first === list.indexOf(answered) && first === list.lastIndexOf('"outcome":')
  return isAnswered && !isProvidersError(error) ? null : parseList(`[${list}]`, error)
}

/** Another writer's order of fields costs time, never a figure. */
function figuresIn(text: string, error: RequestRecord['error']): AttemptFigure[] | null {
  try {
    const { attempts } = JSON.parse(text) as { attempts?: AttemptRecord[] }
    return keepOdd(figuresOf(attempts ?? [], error))
  } catch {
    return []
  }
}

function parseList(text: string, error: RequestRecord['error']): AttemptFigure[] | null {
  try {
    return keepOdd(figuresOf(JSON.parse(text) as AttemptRecord[], error))
  } catch {
    return []
  }
}

export function keepOdd(figures: AttemptFigure[]): AttemptFigure[] | null {
  return isPlain(figures) ? null : figures
}
