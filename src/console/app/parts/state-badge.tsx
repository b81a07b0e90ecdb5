import { Ban, CircleAlert, CircleCheck, CircleDashed, CircleX, LoaderCircle } from 'lucide-react'
import { Fragment, type ReactNode } from 'react'
import { escapeControls, type Tone, toneOf } from '../../../admin/contract/show-value.ts'
import { stateLabel } from './labels.ts'

const icons: Record<Tone, ReactNode> = {
  good: <CircleCheck size={14} aria-hidden="true" />,
  warning: <CircleAlert size={14} aria-hidden="true" />,
  bad: <CircleX size={14} aria-hidden="true" />,
  quiet: <Ban size={14} aria-hidden="true" />,
  strong: <CircleDashed size={14} aria-hidden="true" />,
}

export interface StateBadgeProps {
  /** A word (`ready`, `revoked`) or an HTTP status. */
  state: string | number | null
  /** What is behind it; shown after the word. */
  reason?: string | null
  /** Where the word alone does not say what it means. */
  tone?: Tone
  busy?: boolean
  /** The sign alone; the word is there for those who do not see it. */
  bare?: boolean
  /** Said behind the word where there is room. */
  code?: string | null
}

/** A state is told by a word and a sign, never by colour alone. */
export function StateBadge({ state, reason, tone, busy = false, bare = false, code = null }: StateBadgeProps) {
  const badgeTone = tone ?? toneOf(state, 'state') ?? 'strong'
  const word = escapeControls(stateLabel(state))
  return (
    <span className={`state state-${badgeTone}`} title={reason ?? (code === null ? undefined : `${word} ${code}`)}>
      {busy ? <LoaderCircle size={14} className="spin" aria-hidden="true" /> : icons[badgeTone]}
      <span className={bare ? 'visually-hidden' : 'state-word'}>
        {word}
        {code === null ? null : <span className="wide-only"> {breakable(code)}</span>}
      </span>
      {reason ? <span className="state-reason truncate">{escapeControls(reason)}</span> : null}
    </span>
  )
}

/** A code that is longer than its place goes on below, behind a `_`. */
function breakable(code: string): ReactNode {
  return code.split(/(?<=_)/).map((part, place) => (
    <Fragment key={part}>
      {place === 0 ? null : <wbr />}
      {part}
    </Fragment>
  ))
}
