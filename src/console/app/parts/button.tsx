import { Link, type LinkProps } from '@tanstack/react-router'
import type { ButtonHTMLAttributes, ReactNode } from 'react'

export type ButtonLook = 'plain' | 'primary' | 'danger' | 'quiet'

interface Look {
  look?: ButtonLook
  icon?: ReactNode
  small?: boolean
}

function classOf({ look = 'plain', small = false }: Look, more = ''): string {
  return `button button-${look}${small ? ' button-small' : ''} ${more}`.trim()
}

export type ButtonProps = Look & ButtonHTMLAttributes<HTMLButtonElement> & { busy?: boolean }

/** `busy`: what it began has not ended; it cannot be pressed twice, and keeps its width. */
export function Button({ look, icon, small, busy, className, children, ...rest }: ButtonProps) {
  const disabled = rest.disabled === true || busy === true
  return (
    <button
      type="button"
      {...rest}
      className={classOf({ ...(look && { look }), ...(small && { small }) }, className)}
      disabled={disabled}
      aria-busy={busy === true || undefined}
    >
      {icon}
      {children}
    </button>
  )
}

/** For a button that is an icon alone: `label` is what it is called. */
export function IconButton({ label, icon, ...rest }: ButtonProps & { label: string; icon: ReactNode }) {
  return (
    <Button look="quiet" {...rest} className={`icon-button ${rest.className ?? ''}`} aria-label={label} title={label}>
      {icon}
    </Button>
  )
}

/** What leads to another page and looks like a button. */
export function LinkButton({ look, icon, small, children, ...link }: Look & LinkProps & { children: ReactNode }) {
  return (
    <Link {...link} className={classOf({ ...(look && { look }), ...(small && { small }) })}>
      {icon}
      {children}
    </Link>
  )
}
