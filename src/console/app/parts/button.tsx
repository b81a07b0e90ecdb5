import { Link, type LinkProps } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import type { ButtonHTMLAttributes, ReactNode } from 'react'

export type ButtonVariant = 'plain' | 'primary' | 'danger' | 'quiet'

interface ButtonStyle {
  variant?: ButtonVariant
  icon?: ReactNode
  small?: boolean
}

function classOf({ variant = 'plain', small = false }: ButtonStyle, more = ''): string {
  return `button button-${variant}${small ? ' button-small' : ''} ${more}`.trim()
}

export type ButtonProps = ButtonStyle & ButtonHTMLAttributes<HTMLButtonElement> & { busy?: boolean }

/** `busy`: the action is in progress. The button does nothing meanwhile, and keeps its width and the focus. */
export function Button({ variant, icon, small, busy, className, children, onClick, ...rest }: ButtonProps) {
  const isBusy = busy === true || undefined
  return (
    <button
      type="button"
      {...rest}
      className={classOf({ ...(variant && { variant }), ...(small && { small }) }, className)}
      // Disabled for good, it would lose the focus, and whoever uses the keyboard their place.
      aria-disabled={isBusy}
      aria-busy={isBusy}
      onClick={(event) => (isBusy ? event.preventDefault() : onClick?.(event))}
    >
      {icon}
      {children}
    </button>
  )
}

/** The one of a page that adds what the page lists. */
export function AddButton(props: Pick<ButtonProps, 'variant' | 'onClick' | 'children'>) {
  return <Button variant="primary" icon={<Plus size={16} aria-hidden="true" />} {...props} />
}

/** A button with an icon only; `label` is its name. */
export function IconButton({ label, icon, ...rest }: ButtonProps & { label: string; icon: ReactNode }) {
  return (
    <Button
      variant="quiet"
      {...rest}
      className={`icon-button ${rest.className ?? ''}`}
      aria-label={label}
      title={label}
    >
      {icon}
    </Button>
  )
}

/** What leads to another page and looks like a button. */
export function LinkButton({
  variant,
  icon,
  small,
  children,
  ...link
}: ButtonStyle & LinkProps & { children: ReactNode }) {
  return (
    <Link {...link} className={classOf({ ...(variant && { variant }), ...(small && { small }) })}>
      {icon}
      {children}
    </Link>
  )
}
