import type { ReactNode } from 'react'
import { CopyButton } from './copy-button.tsx'

export interface EmptyProps {
  /** What belongs here. */
  title: string
  /** How it gets here. */
  children?: ReactNode
  /** The button that fills the place. */
  action?: ReactNode
  /** The same on the command line: `spgw keys create --name ci`. */
  command?: string
}

/** An empty place says what belongs there and how to fill it. */
export function Empty({ title, children, action, command }: EmptyProps) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children === undefined ? null : <div className="quiet">{children}</div>}
      <div className="row empty-ways">
        {action}
        {command === undefined ? null : <Command text={command} />}
      </div>
    </div>
  )
}

/** A command to copy. */
export function Command({ text }: { text: string }) {
  return (
    <span className="command">
      <code className="truncate">{text}</code>
      <CopyButton bare text={text} label={`Copy ${text}`} />
    </span>
  )
}
