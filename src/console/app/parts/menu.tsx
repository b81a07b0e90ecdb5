import { type ReactNode, useEffect, useRef, useState } from 'react'

export interface MenuProps {
  /** What the button is called. */
  label: string
  button: ReactNode
  className?: string
  align?: 'start' | 'end'
  /** `close` is for what is chosen once. */
  children(close: () => void): ReactNode
}

/** A button with a panel below it; Escape and a press elsewhere close it. */
export function Menu({ label, button, className = 'button button-plain', align = 'end', children }: MenuProps) {
  const [open, setOpen] = useState(false)
  const element = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!open) return
    const outside = (event: Event) => {
      if (event.target instanceof Node && element.current?.contains(event.target) !== true) setOpen(false)
    }
    const leave = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return
      setOpen(false)
      element.current?.querySelector<HTMLElement>('button')?.focus()
    }
    document.addEventListener('pointerdown', outside)
    document.addEventListener('focusin', outside)
    document.addEventListener('keydown', leave)
    return () => {
      document.removeEventListener('pointerdown', outside)
      document.removeEventListener('focusin', outside)
      document.removeEventListener('keydown', leave)
    }
  }, [open])
  return (
    <div className="menu" ref={element}>
      <button
        type="button"
        className={className}
        aria-expanded={open}
        aria-label={label}
        title={label}
        onClick={() => setOpen(!open)}
      >
        {button}
      </button>
      {open ? <div className={`menu-panel menu-${align}`}>{children(() => setOpen(false))}</div> : null}
    </div>
  )
}
